import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ChildProgram, runChild } from '../../../research/support/programs';
import { until } from '../../support/until';

const MAIN = resolve(__dirname, '../../../research/night/main.ts');

/** Nights of one test, in a folder of their own. */
export interface Nights {
  /** Starts the program of `npm run learn -- night`. */
  start(...options: string[]): ChildProgram;
  /** Runs it to its end, and returns what it says. */
  have(...options: string[]): Promise<string>;
}

/** Gives each test a folder for nights, and waits at its end until no process is left there. */
export function useNights(minutes: number): Nights {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'night-'))));
  afterEach(async () => {
    await until(
      () => processesIn(folder),
      (found) => found.length === 0,
    );
    await rm(folder, { recursive: true, force: true });
  });
  const start = (...options: readonly string[]): ChildProgram =>
    runChild(MAIN, ['--folder', folder, '--minutes', `${minutes}`, ...options], process.env);
  return { start, have: (...options) => endOf(start(...options)) };
}

async function endOf(child: ChildProgram): Promise<string> {
  const lines: string[] = [];
  for (;;) {
    const line = await child.nextLine().catch(() => null);
    if (line === null) break;
    lines.push(line);
  }
  expect(await child.ended()).toBe(0);
  return lines.join('\n');
}

/** Returns the processes that work in a folder, as all do that `train up` starts there. */
async function processesIn(folder: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const places = await Promise.all(ids.map((id) => readlink(`/proc/${id}/cwd`).catch(() => null)));
  return ids.filter((_, index) => places[index] === folder);
}
