/**
 * `npm run histories`: runs every shape that has no history yet, or the named ones, against its own server and keeps
 * the histories for the replay tests. Others stay as they are, since they must still replay on newer code.
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { undoAll } from '../support/at-the-end';
import globalSetup from '../support/global-setup';
import globalTeardown from '../support/global-teardown';
import { EVALUATION_SHAPES } from './evaluations/shapes';
import { NIGHT_SHAPES } from './nights/shapes';
import { recordEvaluation, recordNight, recordRun } from './recorders';
import { SHAPES } from './shapes';

/** File of a history, and the function that records it. */
interface Recording {
  readonly name: string;
  readonly file: string;
  readonly record: () => Promise<string>;
}

function recordings(): Recording[] {
  const runs = Object.entries(SHAPES).map(([name, shape]) => ({
    name,
    file: join(__dirname, 'histories', `${name}.json`),
    record: () => recordRun(name, shape),
  }));
  const nights = Object.entries(NIGHT_SHAPES).map(([name, shape]) => ({
    name: `nights/${name}`,
    file: join(__dirname, 'nights/histories', `${name}.json`),
    record: () => recordNight(shape),
  }));
  const evaluations = Object.entries(EVALUATION_SHAPES).map(([name, shape]) => ({
    name: `evaluations/${name}`,
    file: join(__dirname, 'evaluations/histories', `${name}.json`),
    record: () => recordEvaluation(name, shape),
  }));
  return [...runs, ...nights, ...evaluations];
}

async function recordAll(): Promise<void> {
  await globalSetup();
  try {
    for (const { name, file, record } of recordings().filter(isWanted)) {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, await record());
      console.log(name);
    }
  } finally {
    await undoAll();
    await globalTeardown();
  }
}

function isWanted({ name, file }: Recording): boolean {
  const named = process.argv.slice(2);
  return named.length === 0 ? !existsSync(file) : named.includes(name);
}

void recordAll();
