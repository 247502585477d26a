import { join } from 'node:path';
import { solveResultSchema } from '../../../src/protocol/solve';
import { checkpointId, type CheckpointRef, readCheckpointId } from '../../../src/training/manifest';
import { questionSet } from '../world/questions';
import { followNight } from './follow-night';
import { lessonOf } from './lesson-of';
import { openTown, type Town } from './town';
import { describeWorth, tryAt, weigh, type Worth, type Yardstick } from './weigh';

/** A date of its own, so that the demo is the same on each day. */
const NIGHT = '2026-01-10';

/** What one seed came to. */
export interface Learned {
  readonly seed: number;
  readonly before: Worth;
  readonly after: Worth;
  readonly cycles: number;
  readonly promoted: boolean;
  readonly minutes: number;
}

export interface Course extends Yardstick {
  /** Where everything is kept. */
  readonly folder: string;
  readonly tell: (line: string) => void;
}

/**
 * A policy's way from imitation to a promotion, told as it goes: warm start, first serving, one night, gate, a solve by
 * what was learned, and back. All of it is done by the product's own commands.
 *
 * @throws Error where one of them does not do what it should
 */
export async function runSeed(course: Course): Promise<Learned> {
  const { recipe, seed, folder, tell } = course;
  const began = performance.now();
  const town = await openTown(lessonOf(recipe, seed), folder);
  tell(`seed ${seed}: everything runs in ${folder}; Temporal's web page is ${town.webPage}`);
  try {
    const warm = await warmUp(course, town);
    const before = await weigh(course, town, warm);
    tell(`before ${describeWorth(before)}`);
    await expectSolver(course, town, warm);
    const night = await spendNight(course, town);
    const trained = night.checkpoint ?? warm;
    const after = await weigh(course, town, trained);
    tell(`after  ${describeWorth(after)}`);
    const { decision } = night;
    tell(`gate: ${decision}`);
    await town.command('train', 'plot', '--out', join(folder, 'pictures'));
    const promoted = await serveAndTakeBack(course, town, { warm, trained });
    const minutes = (performance.now() - began) / 60_000;
    return { seed, before, after, cycles: night.done, promoted, minutes };
  } finally {
    await town.close();
  }
}

/** The first checkpoint, which serves from then on. */
async function warmUp({ recipe: { warmStart }, tell }: Course, { command }: Town): Promise<CheckpointRef> {
  const { steps, learningRate, batch, warmupSteps } = warmStart;
  const options = { steps, 'learning-rate': learningRate, batch, 'warmup-steps': warmupSteps };
  const given = Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const printed = await command('train', 'warm-start', '--examples', 'examples.jsonl', ...given);
  const checkpoint = readCheckpointId(printed);
  if (checkpoint === null) throw new Error(`"train warm-start" printed no checkpoint: ${printed}`);
  await command('train', 'promote', printed, '--reason', 'the one that imitates');
  tell(`${printed} imitates examples, and serves`);
  return checkpoint;
}

async function spendNight(course: Course, town: Town) {
  await town.command('train', 'start', '--date', NIGHT);
  return followNight(town, NIGHT, {
    look: async ({ done, last, checkpoint }) => {
      if (checkpoint === null) return 0;
      const { ratio } = await tryAt(course, town, checkpoint, 0.2);
      course.tell(`cycle ${done}/${last}: ratio ${ratio.toFixed(3)} at temperature 0.2`);
      return ratio;
    },
  });
}

/** What was learned answers, if the gate let it; one command later what was before answers again. */
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

/** The checkpoint that plans for a held-out question. */
async function solveOnce({ recipe, seed }: Course, { command }: Town): Promise<string | null> {
  const [row] = questionSet(recipe.world, 'heldOut', 1, seed);
  const printed = await command('solve', row?.question ?? '', '--json');
  return solveResultSchema.parse(JSON.parse(printed)).checkpoint;
}
