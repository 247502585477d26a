import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { unlessAborted } from '../../src/runtime/turns';
import { openTown } from '../demo/town';
import type { Lesson } from '../support/lesson';
import { SMALL_WORLD } from '../world/world';
import { measureStep } from './measure-step';
import { type PlainUpdate, playPlainly } from './plain-loop';
import { openPlainSetting } from './plain-setting';
import { type NightFigures, playNight, serverOf } from './play-night';
import { aheadRow, costRows, type Figures, type Row, shareRows, stepRows, wallRow } from './tables';

// Measures what durability costs in training, in one run on this machine:
//   npm run learn -- bench [--quick]
// Compares the product's night with a plain loop that does the same work with the same servers; a night with rollouts
// one cycle ahead; and an update with bare TRL's. Asserts nothing: a missed target is printed as missed.

const TARGET = ['target', ''];

async function main(): Promise<void> {
  const { quick } = parseArgs({ options: { quick: { type: 'boolean' } } }).values;
  const extent = quick ? QUICK : WHOLE;
  const root = await mkdtemp(join(tmpdir(), 'bench-training-'));
  try {
    console.log(`Node ${process.versions.node}, ${availableParallelism()} cores\n`);
    await measure(extent, root);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function measure(extent: Extent, root: string): Promise<void> {
  const { questions, plans, slowMs } = extent;
  const cycle = `${questions} × ${plans} rollouts, window 10`;
  const slow = await compare(extent, join(root, 'slow'), slowMs);
  printTable([`${cycle}, ${slowMs} ms calls`, 'a cycle', 'share', ...TARGET], shareRows(slow.night));
  const fast = await compare(extent, join(root, 'fast'), 0);
  printTable(
    [cycle, 'plain', 'whole stack', 'times plain'],
    [
      wallRow(slowMs, slow.plain, slow.night),
      wallRow(0, fast.plain, fast.night),
      ...costRows(fast.plain, fast.night),
    ],
  );
  const lagging = await playAhead(extent, join(root, 'ahead'));
  printTable([cycle, 'staleness: 0', 'staleness: 1', 'times 0'], [aheadRow(slowMs, slow.night, lagging)]);
  const { update, checkpoints } = fast;
  const step = await measureStep(checkpoints, update, extent.steps);
  printTable(
    [`an update of ${update.rollouts} rollouts`, 'TRL', 'ours', 'times TRL', ...TARGET],
    stepRows(step),
  );
  for (const { night, plain } of [slow, fast]) console.log(describeWork(night, plain));
}

interface Comparison {
  readonly night: NightFigures;
  readonly plain: Figures;
  /** First update of the plain loop. */
  readonly update: PlainUpdate;
  /** Folder of the plain loop's checkpoints. */
  readonly checkpoints: string;
}

/** Plays a night, and then the plain loop from the same checkpoint. */
async function compare(extent: Extent, folder: string, delayMs: number): Promise<Comparison> {
  const town = await openTown(lessonOf(extent), folder, delayMs);
  try {
    const night = await unlessAborted(town.lost, playNight(town, await serverOf(folder), extent.cycles));
    const setting = await openPlainSetting(town, folder);
    const { updates, ...plain } = await playPlainly(setting).finally(() => setting.steps.close());
    const [update] = updates;
    if (update === undefined)
      throw new Error('No group of the plain loop had a spread: nothing was learned.');
    return { night, plain, update, checkpoints: setting.root };
  } finally {
    await town.close();
  }
}

/** Plays the night again with rollouts one cycle ahead. Drops the last cycle, beside which no rollouts run. */
async function playAhead(extent: Extent, folder: string): Promise<NightFigures> {
  const cycles = extent.cycles + 1;
  const town = await openTown(lessonOf({ ...extent, cycles }, 1), folder, extent.slowMs);
  try {
    const night = await unlessAborted(town.lost, playNight(town, await serverOf(folder), cycles));
    return { ...night, cycles: night.cycles.slice(0, -1), times: night.times.slice(0, -1) };
  } finally {
    await town.close();
  }
}

/** Describes whether both did the same work, in which case their weights are equal. */
function describeWork(night: Figures, plain: Figures): string {
  const same = night.cycles.filter(
    ({ weightsSha256 }, index) => weightsSha256 === plain.cycles[index]?.weightsSha256,
  );
  return `Night and plain loop came to the same weights in ${same.length} of ${night.cycles.length} cycles.`;
}

/** Prints a table in Markdown. */
function printTable(columns: Row, rows: readonly Row[]): void {
  const print = (cells: Row): void => {
    console.log(`| ${cells.join(' | ')} |`);
  };
  print(columns);
  print(columns.map(() => '---'));
  rows.forEach(print);
  console.log();
}

/** Size of a measurement. */
export interface Extent {
  /** Per cycle. */
  readonly questions: number;
  /** Per question. */
  readonly plans: number;
  /** The first cycle is a warm-up and not counted: it opens connections and fills caches. */
  readonly cycles: number;
  /** Duration of a worker's call in the slow runs, in milliseconds; 0 in the fast ones. */
  readonly slowMs: number;
  /** Supervised steps: enough for replies to be plans, some of them right. */
  readonly warmStartSteps: number;
  /** Repetitions of the measured update. */
  readonly steps: number;
}

/** Full measurement, for an otherwise idle machine. */
export const WHOLE: Extent = {
  questions: 8,
  plans: 16,
  cycles: 3,
  slowMs: 500,
  warmStartSteps: 600,
  steps: 9,
};

/** Only checks that everything works; its figures mean nothing. */
export const QUICK: Extent = {
  questions: 1,
  plans: 4,
  cycles: 2,
  slowMs: 20,
  warmStartSteps: 200,
  steps: 1,
};

/** Returns the training setup of the measured nights. The gate is not measured and gets few questions. */
export function lessonOf({ questions, plans, cycles, warmStartSteps }: Extent, staleness: 0 | 1 = 0): Lesson {
  return {
    world: SMALL_WORLD,
    seed: 0,
    warmStartSteps,
    size: { train: 256, heldOut: 2, examples: 2000 },
    training: {
      cycles,
      questions,
      groupSize: plans,
      staleness,
      // Enough draws for some groups to have a spread.
      maxDraws: 2 * questions + 8,
      window: 10,
      trainer: { microBatch: questions * plans },
    },
  };
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  // Exits at once, since calls to a lost process may still be open.
  process.exit(1);
});
