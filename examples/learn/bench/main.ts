import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { unlessAborted } from '../../../src/turns';
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
// The product's night, and then a plain loop that does the same work with the same servers; a night with rollouts one
// cycle ahead; an update, and bare TRL's. It asserts nothing: a missed target is printed as missed.

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
  /** The first one of the plain loop. */
  readonly update: PlainUpdate;
  /** Folder of its checkpoints. */
  readonly checkpoints: string;
}

/** A night, and then the plain loop, from the same checkpoint on. */
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

/** Plays the night again with rollouts one cycle ahead. Its last cycle has none beside it, and is not counted. */
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

/** Whether the two did the same work: if so, they learned the same. */
function describeWork(night: Figures, plain: Figures): string {
  const same = night.cycles.filter(
    ({ weightsSha256 }, index) => weightsSha256 === plain.cycles[index]?.weightsSha256,
  );
  return `Night and plain loop came to the same weights in ${same.length} of ${night.cycles.length} cycles.`;
}

/** In Markdown. */
function printTable(columns: Row, rows: readonly Row[]): void {
  const print = (cells: Row): void => {
    console.log(`| ${cells.join(' | ')} |`);
  };
  print(columns);
  print(columns.map(() => '---'));
  rows.forEach(print);
  console.log();
}

/** How much is measured. */
export interface Extent {
  /** Per cycle. */
  readonly questions: number;
  /** Per question. */
  readonly plans: number;
  /** The first one is played and not counted: connections are made in it, and caches filled. */
  readonly cycles: number;
  /** Duration of a worker's call in the slow runs, in milliseconds; the others take none. */
  readonly slowMs: number;
  /** Supervised steps, after which replies are plans, some of them right. */
  readonly warmStartSteps: number;
  /** How often a trainer's step is repeated. */
  readonly steps: number;
}

/** For a machine that does nothing else. */
export const WHOLE: Extent = {
  questions: 8,
  plans: 16,
  cycles: 3,
  slowMs: 500,
  warmStartSteps: 600,
  steps: 9,
};

/** Shows that everything still works; its figures say nothing. */
export const QUICK: Extent = {
  questions: 1,
  plans: 4,
  cycles: 2,
  slowMs: 20,
  warmStartSteps: 200,
  steps: 1,
};

/** Training setup of the measured nights. The gate is not measured and gets as few questions as it takes. */
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
      // Draws enough groups that some have a spread.
      maxDraws: 2 * questions + 8,
      window: 10,
      trainer: { microBatch: questions * plans },
    },
  };
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  // Ends calls that would outlive the lost process.
  process.exit(1);
});
