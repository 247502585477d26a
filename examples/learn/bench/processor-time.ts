import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FOLDER } from '../../../src/cli/settings';
import { readServerRecord } from '../../../src/local/lease';

/** A tick of Linux's count of processor time, in milliseconds. */
const TICK_MS = 10;

/** User and system time of a process, in milliseconds, by Linux's count of ticks; elsewhere not a number. */
export async function processorTimeOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program, in brackets, may hold anything.
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14);
  return (Number(user) + Number(system)) * TICK_MS;
}

/**
 * Process of the Temporal server that was started in a folder.
 *
 * @throws Error where none is
 */
export async function serverOf(folder: string): Promise<number> {
  const record = await readServerRecord(join(folder, FOLDER));
  if (record?.process) return record.process.pid;
  throw new Error(`No Temporal server was started in ${folder}: did "up" find another one?`);
}
