import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { unlessAborted } from '../../src/runtime/turns';
import { seedsFrom } from '../support/options';
import { type Lesson, openLesson } from './lesson';
import { type Recipe, withCycles } from './recipe';

/** An option of one command, in addition to those of all. */
export interface OwnOption {
  /** Without its dashes. */
  readonly name: string;
  /** @throws Error for an invalid value */
  readonly change: (recipe: Recipe, value: string) => Recipe;
}

/**
 * Runs a command that trains a policy per seed: `[--seeds 1] [--first 0] [--cycles N] [--folder DIR]`. A warm start
 * made earlier in the named folder is reused. Exits with 1 if a seed falls short.
 *
 * @param run trains, reports progress, and returns whether the claim holds
 */
export function runCourse(
  recipe: Recipe,
  run: (lesson: Lesson, tell: (line: string) => void) => Promise<boolean>,
  own: OwnOption,
): void {
  runSeeds(recipe, run, own).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    // Exits at once, since calls to a lost process may still be open.
    process.exit(1);
  });
}

async function runSeeds(recipe: Recipe, run: Parameters<typeof runCourse>[1], own: OwnOption): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1' },
      first: { type: 'string', default: '0' },
      cycles: { type: 'string' },
      folder: { type: 'string' },
      [own.name]: { type: 'string' },
    },
  });
  const { cycles, folder, [own.name]: value } = values;
  const planned = value === undefined ? recipe : own.change(recipe, value);
  const root = resolve(folder ?? (await mkdtemp(join(tmpdir(), 'train-'))));
  for (const seed of seedsFrom(values)) {
    const tell = timed();
    tell(`seed ${seed}, the ${recipe.world.name} world, in a plain loop without Temporal`);
    const lesson = await openLesson(withCycles(planned, cycles), seed, root);
    try {
      if (!(await unlessAborted(lesson.lost, run(lesson, tell)))) process.exitCode = 1;
    } finally {
      await lesson.close();
    }
  }
}

/** Returns a function that prints lines, each with the seconds since it was made. */
export function timed(): (line: string) => void {
  const began = performance.now();
  return (line) => {
    console.log(`${seconds(performance.now() - began).padStart(8)}  ${line}`);
  };
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
