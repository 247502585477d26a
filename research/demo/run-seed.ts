import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { solveResultSchema } from '../../src/protocol/solve';
import { readNight } from '../../src/training/activities/records';
import { readCheckpointManifest } from '../../src/training/client';
import type { NightRecord } from '../../src/training/records';
import type { Recipe } from '../plain/recipe';
import { type Score, tryOut } from '../plain/scoring';
import { type Lesson, TRAIN_RUN } from '../support/lesson';
import type { Optimum } from '../world/optimum';
import { questionSet } from '../world/questions';
import { openTown, type Town, warmStartArguments } from './town';
import { checkpointId, type CheckpointRef, readCheckpointId } from '../../src/training/names';
import { unlessAborted } from '../../src/runtime/turns';

/** Fixed date, so that the demo is the same on each day. */
const NIGHT = '2026-01-10';

/** Result of one seed. */
export interface Learned {
  readonly seed: number;
  readonly before: Worth;
  readonly after: Worth;
  readonly cycles: number;
  readonly promoted: boolean;
  readonly minutes: number;
}

export interface Course extends Yardstick {
  /** The recipe as the product's own settings. */
  readonly lesson: Lesson;
  /** Folder of all files. */
  readonly folder: string;
  readonly tell: (line: string) => void;
}

/**
 * Takes a policy from imitation to promotion with the product's own commands, and reports progress: warm start, first
 * serving, one night, the gate, a solve by the trained policy, and a rollback.
 *
 * @throws Error if a command does not do what it should, or a process that it needs ends
 */
export async function runSeed(course: Course): Promise<Learned> {
  const { lesson, seed, folder, tell } = course;
  const began = performance.now();
  const town = await openTown(lesson, folder);
  tell(`seed ${seed}: everything runs in ${folder}; Temporal's web page is ${town.webPage}`);
  try {
    const learned = await unlessAborted(town.lost, learn(course, town));
    return { seed, ...learned, minutes: (performance.now() - began) / 60_000 };
  } finally {
    await town.close();
  }
}

async function learn(course: Course, town: Town): Promise<Omit<Learned, 'seed' | 'minutes'>> {
  const { folder, tell } = course;
  const warm = await warmUp(course, town);
  const before = await weigh(course, town, warm);
  tell(`before ${describeWorth(before)}`);
  await expectSolver(course, town, warm);
  const night = await spendNight(course, town);
  const trained = night.checkpoint ?? warm;
  const after = await weigh(course, town, trained);
  tell(`after  ${describeWorth(after)}`);
  tell(`gate: ${night.decision}`);
  await town.command('train', 'plot', '--out', join(folder, 'pictures'));
  const promoted = await serveAndTakeBack(course, town, { warm, trained });
  return { before, after, cycles: night.done, promoted };
}

/** Makes the first checkpoint and promotes it. */
async function warmUp({ recipe: { warmStart }, tell }: Course, { command }: Town): Promise<CheckpointRef> {
  const given = warmStartArguments('examples.jsonl', warmStart);
  if (warmStart.weights === 'all') given.push('--all-weights');
  const printed = await command(...given);
  const checkpoint = readCheckpointId(printed);
  if (checkpoint === null) throw new Error(`"train warm-start" printed no checkpoint: ${printed}`);
  await command('train', 'promote', printed, '--reason', 'the one that imitates');
  tell(`${printed} imitates examples, and serves`);
  return checkpoint;
}

async function spendNight(course: Course, town: Town) {
  await town.command('train', 'start', '--date', NIGHT);
  return followNight(town, NIGHT, async ({ done, last, checkpoint }) => {
    if (checkpoint === null) return;
    const { ratio } = await tryAt(course, town, checkpoint, 0.2);
    course.tell(`cycle ${done}/${last}: ratio ${ratio.toFixed(3)} at temperature 0.2`);
  });
}

/** Solves with the trained policy if the gate promoted it, then rolls back and solves with the earlier one. */
async function serveAndTakeBack(
  course: Course,
  town: Town,
  { warm, trained }: { readonly warm: CheckpointRef; readonly trained: CheckpointRef },
): Promise<boolean> {
  const serving = await solveOnce(course, town);
  if (serving !== checkpointId(trained)) return false;
  course.tell(`a solve was planned by ${serving}`);
  await town.command('train', 'rollback');
  await expectSolver(course, town, warm);
  return true;
}

async function expectSolver(course: Course, town: Town, expected: CheckpointRef): Promise<void> {
  const planner = await solveOnce(course, town);
  if (planner !== checkpointId(expected)) {
    throw new Error(`a solve was planned by ${planner}, not by ${checkpointId(expected)}`);
  }
  course.tell(`a solve was planned by ${planner}`);
}

/** Solves a held-out question, and returns the checkpoint that planned. */
async function solveOnce({ recipe, seed }: Course, { command }: Town): Promise<string | null> {
  const [row] = questionSet(recipe.world, 'heldOut', 1, seed);
  const printed = await command('solve', row?.question ?? '', '--json');
  return solveResultSchema.parse(JSON.parse(printed)).checkpoint;
}

/** Cycles between two tests of the policy. */
const EVERY = 10;
const POLL_MS = 1_000;

/** Polls a night until it ends, and calls `look` every few cycles. */
async function followNight(
  town: Town,
  date: string,
  look: (night: NightRecord) => Promise<void>,
): Promise<NightRecord> {
  for (let next = EVERY; ;) {
    const night = await readNight(town.store, TRAIN_RUN, date);
    if (night !== null && night.closedAt !== null) return night;
    if (night !== null && night.done >= next) {
      await look(night);
      next += EVERY;
    }
    await setTimeout(POLL_MS);
  }
}

/** References that a policy's plans are compared with. */
export interface Yardstick {
  readonly recipe: Recipe;
  readonly seed: number;
  readonly optimum: Optimum;
}

/** Scores of a policy at the training temperature, at the serving temperature, and with greedy sampling. */
export interface Worth {
  readonly hot: Score;
  readonly cool: Score;
  readonly greedy: Score;
}

/** Scores a checkpoint on the held-out questions at each of the temperatures. */
async function weigh(yardstick: Yardstick, town: Town, checkpoint: CheckpointRef): Promise<Worth> {
  const hot = await tryAt(yardstick, town, checkpoint, 1);
  const cool = await tryAt(yardstick, town, checkpoint, 0.2);
  return { hot, cool, greedy: await tryAt(yardstick, town, checkpoint, 0) };
}

/** Scores a checkpoint at one temperature. */
async function tryAt(
  { recipe, seed, optimum }: Yardstick,
  { store, policyUrl }: Town,
  checkpoint: CheckpointRef,
  temperature: number,
): Promise<Score> {
  const sampled = await readCheckpointManifest(store, checkpoint);
  return tryOut({ recipe, seed, policyUrl }, optimum, sampled, temperature);
}

/** Describes the ratios of rewards and accuracies, and the share of replies that are plans. */
function describeWorth({ hot, cool, greedy }: Worth): string {
  const told = Object.entries({ 'T=1': hot, 'T=0.2': cool, greedy });
  return told.map(([name, score]) => `${name} ${describeScore(score)}`).join('  ');
}

export function describeScore({ ratio, accuracyRatio, formatRate }: Score): string {
  return `${ratio.toFixed(3)} (of accuracy ${accuracyRatio.toFixed(3)}, plans ${formatRate.toFixed(2)})`;
}

/** Returns a recipe as the product's own settings. */
export function lessonOf({ world, train, heldOut, warmStart, learning }: Recipe, seed: number): Lesson {
  const { cycles, questions, groupSize, maxDraws, tuning, iterations } = learning;
  const { learningRate, schedule, warmupSteps, beta } = learning;
  return {
    world,
    seed,
    warmStartSteps: warmStart.steps,
    size: { train, heldOut, examples: warmStart.examples },
    training: {
      cycles,
      totalCycles: cycles,
      questions,
      groupSize,
      maxDraws,
      trainer: {
        tuning,
        loss: { name: 'dapo', epsilonHigh: 0.28, beta },
        optimizer: { learningRate, schedule, warmupSteps },
        microBatch: questions * groupSize,
        iterations,
      },
    },
  };
}
