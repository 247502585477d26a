import { readdir, readlink, realpath } from 'node:fs/promises';
import { runProgram } from './run-program';

/**
 * Numbers of this user's processes that have a file open: from `/proc` on Linux, from `lsof` on macOS.
 * Always empty on Windows, and for processes of other users or other containers, which cannot be seen.
 */
export async function holdersOf(path: string): Promise<number[]> {
  const file = await realpath(path).catch(() => null);
  if (file === null || process.platform === 'win32') return [];
  return process.platform === 'linux' ? linuxHolders(file) : lsofHolders(file);
}

async function linuxHolders(file: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const holds = await Promise.all(pids.map((pid) => hasOpen(pid, file)));
  return pids.filter((_, index) => holds[index]).map(Number);
}

async function hasOpen(pid: string, file: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const descriptors = await readdir(folder).catch(() => []);
  const targets = await Promise.all(descriptors.map((fd) => readlink(`${folder}/${fd}`).catch(() => '')));
  return targets.includes(file);
}

async function lsofHolders(file: string): Promise<number[]> {
  // lsof exits with 1 when nobody has the file open.
  const printed = await runProgram('lsof', ['-t', '--', file]).catch(() => '');
  return printed.split('\n').filter(Boolean).map(Number);
}
