import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { RunningCommand } from './command';

/** Returns the worker process of `up`, its only such child: the server has a group, and a parent, of its own. */
export async function workerOf({ pid }: RunningCommand): Promise<number> {
  const { stdout } = await promisify(execFile)('pgrep', ['-P', String(pid), '-f', 'up-worker']);
  return Number(stdout);
}
