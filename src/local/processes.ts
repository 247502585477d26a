import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { runProgram } from '../start-program';

/**
 * Tells one process of a number from the next: when it started, as its operating system writes it. null when no such
 * process runs; a zombie, ended but not yet reaped, counts as none.
 *
 * Windows has no cheap way to ask: there a number that runs is taken to be the process that was meant.
 */
export async function processMark(pid: number): Promise<string | null> {
  if (process.platform === 'linux') return linuxMark(pid);
  if (process.platform !== 'win32') return psMark(pid);
  try {
    process.kill(pid, 0);
    return 'running';
  } catch {
    return null;
  }
}

export async function stillRuns(pid: number, mark: string): Promise<boolean> {
  return (await processMark(pid)) === mark;
}

async function linuxMark(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // proc_pid_stat(5): the second field is a name in parentheses that may hold anything; state is the third field,
  // num_threads the 20th, starttime the 22nd, in clock ticks since boot.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, threads, started] = [fields[0], Number(fields[17]), fields[19]];
  // The first thread of a killed process may be a zombie while others still hold its files and ports.
  const ended = state === 'X' || (state === 'Z' && threads <= 1);
  return ended || started === undefined ? null : started;
}

async function psMark(pid: number): Promise<string | null> {
  const printed = await runProgram('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)]).catch(() => '');
  const [state, ...started] = printed.trim().split(/\s+/);
  return !state || state.startsWith('Z') ? null : started.join(' ');
}

/**
 * Numbers of this user's processes that have a file open: from `/proc` on Linux, from `lsof` on macOS.
 * Always empty on Windows, and for processes of other users or other containers, which cannot be seen.
 */
export async function holdersOf(path: string): Promise<number[]> {
  const file = await realpath(path).catch(() => null);
  if (file === null || process.platform === 'win32') return [];
  if (process.platform !== 'linux') {
    // lsof exits with 1 when no process has the file open.
    const printed = await runProgram('lsof', ['-t', '--', file]).catch(() => '');
    return printed.split('\n').filter(Boolean).map(Number);
  }
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
