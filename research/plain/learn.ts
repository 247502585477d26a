import { gzipSync } from 'node:zlib';
import type { Plan } from '../../src/plan/plan';
import { checkpointId } from '../../src/training/names';
import { drawQuestions, drawWorkers, sortByTopic } from '../../src/training/draw';
import { learnableParts } from '../../src/training/rewards';
import type {
  BatchHeader,
  BatchRow,
  Checkpoint,
  TrainerConfig,
  UpdateMetrics,
} from '../../src/training/trainer-contract';
import { findOptimum, kindOf, type Optimum } from '../world/optimum';
import { type QuestionRow, questionSet, toJsonLines } from '../world/questions';
import { type Played, playGroup } from './group';
import { handOver, type Lesson, type StepServer } from './lesson';
import { configOf } from './recipe';
import { seconds } from './run-course';
import { mean } from './scoring';
import { warmUp } from './warm-up';

/** Measurements of a policy before and after it learned. */
export interface Taught<Measured> {
  readonly before: Measured;
  readonly after: Measured;
}

/** Number of progress lines per run. */
const PARTS = 10;

/** Runs a policy's warm start and training, and reports progress. */
export async function teach<Measured>(
  lesson: Lesson,
  tell: (line: string) => void,
  measure: (checkpoint: Checkpoint) => Promise<Measured>,
): Promise<Taught<Measured>> {
  let checkpoint = await warmUp(lesson);
  const before = await measure(checkpoint);
  const part: Cycle[] = [];
  const { world, learning } = lesson.recipe;
  const optimum = findOptimum(world);
  const length = Math.ceil(learning.cycles / PARTS);
  for await (const cycle of learn(lesson, checkpoint)) {
    checkpoint = cycle.checkpoint;
    part.push(cycle);
    if (cycle.cycle % length === 0) tell(summary(part.splice(0), optimum));
  }
  return { before, after: await measure(checkpoint) };
}

function summary(cycles: readonly Cycle[], optimum: Optimum): string {
  const rounds = [0, 1].map((round) => cycles.flatMap((cycle) => cycle.rounds[round] ?? []));
  const played = rounds.flat();
  const rewards = rounds
    .filter(({ length }) => length > 0)
    .map((round) => mean(round.flatMap(({ reward }) => reward ?? [])).toFixed(3));
  const last = cycles.at(-1);
  return [
    `cycle ${last?.cycle}`,
    `reward ${rewards.join(', reviews ')}`,
    `plans ${mean(played.map(({ plan }) => (plan === null ? 0 : 1))).toFixed(3)}`,
    `steps ${mean(played.map(({ plan }) => plan?.steps.length ?? 0)).toFixed(2)}`,
    `draws ${mean(cycles.map(({ draws }) => draws)).toFixed(1)}`,
    `best shape ${describeShapes(rounds[0] ?? [], optimum)}`,
    `entropy ${last?.metrics?.entropy.toFixed(3)}`,
    `clip ${last?.metrics?.clipShare.toFixed(3)}`,
    `rollouts ${seconds(mean(cycles.map(({ times }) => times.rollouts)))}`,
    `update ${seconds(mean(cycles.map(({ times }) => times.update)))}`,
  ].join('  ');
}

/** Describes, by topic, the share of plans that have the best plan's shape (the kinds of its steps). */
export function describeShapes(
  played: readonly Pick<Played, 'topic' | 'plan'>[],
  { topics }: Optimum,
): string {
  const shares = topics.flatMap(({ topic, best }) => {
    const plans = played.flatMap((each) => (each.topic === topic ? (each.plan ?? []) : []));
    if (plans.length === 0) return [];
    const share = mean(plans.map((plan) => (shapeOf(plan) === shapeOf(best.plan) ? 1 : 0)));
    return [`${topic} ${share.toFixed(3)}`];
  });
  return shares.join(' ');
}

function shapeOf({ steps }: Plan): string {
  return steps.map(({ subtask }) => kindOf(subtask)).join();
}

/** Result of a cycle. */
export interface Cycle extends Pick<RolledOut, 'rounds' | 'draws'> {
  readonly cycle: number;
  readonly checkpoint: Checkpoint;
  /** Null if no group had a spread. */
  readonly metrics: UpdateMetrics | null;
  /** Wall-clock times, in milliseconds. */
  readonly times: { readonly rollouts: number; readonly update: number };
}

/** Trains from a checkpoint in a plain loop, and yields each cycle of rollouts and update. */
async function* learn(lesson: Lesson, from: Checkpoint): AsyncGenerator<Cycle> {
  const { recipe, seed } = lesson;
  const { topics = recipe.world.topics.map(({ name }) => name) } = recipe;
  const set = questionSet(recipe.world, 'train', recipe.train, seed);
  const source = sortByTopic(set.filter(({ topic }) => topics.includes(topic)));
  let [writer, checkpoint] = [from, from];
  for (let cycle = 1; cycle <= recipe.learning.cycles; cycle += 1) {
    const began = performance.now();
    const { rows, rounds, draws } = await rollOut(lesson, source, writer, cycle);
    const rolledOut = performance.now();
    const updated =
      rows.length === 0 ? null : await update(lesson, configOf(recipe, seed), checkpoint, cycle, rows);
    const parent = checkpoint;
    checkpoint = updated?.checkpoint ?? parent;
    writer = recipe.learning.staleness === 1 ? parent : checkpoint;
    const times = { rollouts: rolledOut - began, update: performance.now() - rolledOut };
    yield { cycle, checkpoint, rounds, draws, metrics: updated?.metrics ?? null, times };
  }
}

/** Has the trainer update a checkpoint with the rows of one cycle. */
export async function update(
  { trainRun, steps, folder }: Pick<Lesson, 'trainRun' | 'steps' | 'folder'>,
  config: TrainerConfig,
  { trainRun: from, name, tokenizerSha256 }: Checkpoint,
  cycle: number,
  rows: RolledOut['rows'],
): ReturnType<StepServer['update']> {
  const header: BatchHeader = {
    schema: 1,
    trainRun,
    cycle,
    policy: name,
    rollouts: rows.length,
    temperature: 1,
    tokenizerSha256,
  };
  const { path, stored } = await handOver(folder, 'batch.jsonl.gz', gzipSync(toJsonLines([header, ...rows])));
  const parent = { trainRun: from, name };
  return steps.update({ trainRun, cycle, parent, batch: stored, config }, path);
}

/** The rollouts of one cycle. */
export interface RolledOut {
  /** Rollouts to learn from. */
  readonly rows: readonly BatchRow[];
  /** All rollouts, by round. */
  readonly rounds: readonly (readonly Played[])[];
  readonly draws: number;
}

/** Draws and plays questions one after the other until enough groups have a spread. */
async function rollOut(
  lesson: Lesson,
  { questions, topics }: ReturnType<typeof sortByTopic<QuestionRow>>,
  checkpoint: Checkpoint,
  cycle: number,
): Promise<RolledOut> {
  const { seed, recipe, workers } = lesson;
  const { questions: wanted, groupSize: plans, maxDraws } = recipe.learning;
  const drawn = drawQuestions({ seed, topics, questions: wanted, cycle }, maxDraws);
  const groups: BatchRow[][] = [];
  const rounds: Played[][] = [[], []];
  let draw = 0;
  for (; draw < maxDraws && groups.length < wanted; draw += 1) {
    const played = await playGroup(lesson, checkpoint, {
      purpose: 'training',
      cycle,
      draw,
      question: questionAt(questions, drawn[draw]),
      workers: drawWorkers(workers, { seed, cycle, draw, pool: recipe.pool }),
      plans,
      temperature: 1,
    });
    for (const [round, each] of played.entries()) rounds[round]?.push(...each);
    const rows = played.flatMap((each, round) => toRows(each, { checkpoint, draw, round }));
    if (rows.length > 0) groups.push(rows);
  }
  return { rows: groups.flat(), rounds: rounds.filter(({ length }) => length > 0), draws: draw };
}

function questionAt(questions: readonly QuestionRow[], index: number | undefined): QuestionRow {
  const question = index === undefined ? undefined : questions[index];
  if (question === undefined)
    throw new RangeError(`There is no question ${index}; there are ${questions.length}.`);
  return question;
}

/** Returns rows in ascending order of their ids; none if there is nothing to learn from. */
export function toRows(
  played: readonly (Pick<Played, 'sample' | 'reward'> & Partial<Pick<Played, 'baseline'>>)[],
  { checkpoint, draw, round }: { checkpoint: Checkpoint; draw: number; round: number },
): BatchRow[] {
  const group = round === 0 ? padded(draw) : `${padded(draw)}/${round}`;
  const parts = new Set(learnableParts(played, { keepFlat: false }).flat());
  const rows = played.flatMap((each, index) => (parts.has(each) ? [{ ...each, index }] : []));
  return rows.map(({ sample, reward, baseline, index }) => ({
    rolloutId: `${group}/${padded(index)}`,
    groupId: baseline === undefined ? group : `${group}/${baseline}`,
    round,
    policy: checkpointId(checkpoint),
    promptTokenIds: [...sample.promptTokenIds],
    completionTokenIds: [...sample.completionTokenIds],
    sampledLogprobs: [...sample.sampledLogprobs],
    reward,
    finishReason: sample.finishReason,
  }));
}

function padded(number: number): string {
  return String(number).padStart(6, '0');
}
