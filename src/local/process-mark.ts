import { readFile } from 'node:fs/promises';
import { runProgram } from './run-program';

/**
 * Tells one life of a process number from the next: when that process began, as its operating system writes it.
 * null when no such process runs; a zombie, ended but not yet reaped, counts as none.
 *
 * Windows has no cheap word for it: there a number that runs is taken to be the process that was meant.
 */
export async function processMark(pid: number): Promise<string | null> {
  if (process.platform === 'linux') return linuxMark(pid);
  if (process.platform === 'win32') return windowsMark(pid);
  return psMark(pid);
}

/** Whether the very process that carried the mark still runs. */
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

function windowsMark(pid: number): string | null {
  try {
    process.kill(pid, 0);
    return 'running';
  } catch {
    return null;
  }
}
