import { shuffled } from '../../src/statistics/chance';
import { groupBy } from '../../src/statistics/tally';
import { sortByTopic } from '../../src/training/draw';
import { bestRight, drawExamples, imitationSteps, LATEST } from '../../src/training/imitation';
import { sixDigits } from '../../src/training/names';
import type { RightPlans } from '../../src/training/records';
import { rewardOf } from '../../src/training/rewards';
import type { Checkpoint, TrainerConfig } from '../../src/training/trainer-contract';
import type { Supervision } from '../demo/town';
import { toRows, update } from '../plain/learn';
import { handOver, type StepServer } from '../plain/lesson';
import { toJsonLines } from '../world/questions';
import type { TrainingExample } from '../../src/training/definitions';
import type { WarmStartExample } from '../world/warm-start';
import { diceFor } from '../world/world';
import { evenExamples } from './conductor';
import { type Played, type Players, REWARDS, writePlans } from './play';
import { questionsOf, type Source, trainingSet } from './questions';
import type { Recipe } from './recipe';
import { trainerConfigFor } from './settings';

/**
 * Feedback that a Conductor learns from. `verdicts`: which of its plans gave right answers. Controls: `shuffled` permutes the
 * verdicts among the readable plans of a cycle; `none` counts them all as right, which leaves imitation alone.
 */
export const LESSONS = ['verdicts', 'shuffled', 'none'] as const;
export type Lesson = (typeof LESSONS)[number];

/** A Conductor in training. */
export interface Desk extends Players {
  readonly seed: number;
  readonly lesson: Lesson;
  readonly recipe: Recipe;
  readonly steps: StepServer;
  readonly trainRun: string;
  /** Folder for files that the trainer reads. */
  readonly folder: string;
}

/** State of a Conductor's training: all that the next cycle needs. */
export interface Progress {
  /** Completed cycles. */
  readonly done: number;
  readonly checkpoint: Checkpoint;
  /** Checkpoint that writes the next cycle's plans: the previous one, as with `staleness: 1`. */
  readonly writer: Checkpoint;
  readonly own: readonly RightPlans[];
}

/** Result of a cycle. */
export interface Cycle extends Progress {
  readonly played: readonly Played[];
}

/** Returns the number of cycles of both parts; `none` has no second part. */
export function cyclesOf({
  recipe: { imitation, rewards },
  lesson,
}: Pick<Desk, 'recipe' | 'lesson'>): number {
  return imitation.cycles + (lesson === 'none' ? 0 : rewards.cycles);
}

/** Makes the first checkpoint by a warm start on even plans. */
export async function warmUp(desk: Desk): Promise<Checkpoint> {
  const { seed, recipe, crew, trainRun } = desk;
  const { examples: count, ...how } = recipe.warmStart;
  const examples = evenExamples(crew.ids, recipe, count, seed);
  await begin(desk, examples);
  return imitate(desk, { trainRun, name: 'base' }, 'warm', examples, how);
}

/** Creates the untrained network; if it has no tokenizer, one is made from the examples. */
async function begin(desk: Desk, examples: readonly WarmStartExample[]): Promise<void> {
  const { recipe, steps, trainRun, folder } = desk;
  const config = configOf(desk);
  const { base } = recipe;
  if (base.kind === 'folder') {
    await steps.init({ trainRun, base, config });
    return;
  }
  const spelled = examples
    .slice(0, 3000)
    .map(({ prompt, completion }) => JSON.stringify(prompt + completion));
  const texts = await handOver(folder, 'texts.jsonl', `${spelled.join('\n')}\n`);
  await steps.init({ trainRun, base: { ...base, texts: texts.stored }, config }, texts.path);
}

/** Runs supervised steps on examples, by the trainer's warm start. */
async function imitate(
  desk: Desk,
  parent: { readonly trainRun: string; readonly name: string },
  name: string,
  examples: readonly TrainingExample[],
  how: Supervision,
): Promise<Checkpoint> {
  const { steps, trainRun, folder } = desk;
  const taught = await handOver(folder, 'examples.jsonl', toJsonLines(examples));
  const asked = {
    trainRun,
    parent,
    name,
    examples: taught.stored,
    config: configOf(desk),
    weights: 'tuned' as const,
    ...how,
  };
  return (await steps.warmStart(asked, taught.path)).checkpoint;
}

function configOf(desk: Desk): TrainerConfig {
  return trainerConfigFor({ ...desk, workersUrl: desk.crew.url });
}

/** Runs the remaining cycles. The plans of the next one are written and carried out while the trainer works. */
export async function* learn(desk: Desk, from: Progress): AsyncGenerator<Cycle> {
  const last = cyclesOf(desk);
  let { checkpoint, writer, own } = from;
  const source = sortByTopic(trainingSet(desk.recipe.sets, desk.seed));
  let ahead = rollOut(desk, source, writer, from.done + 1);
  for (let cycle = from.done + 1; cycle <= last; cycle += 1) {
    const played = await ahead;
    ahead = cycle === last ? Promise.resolve([]) : rollOut(desk, source, checkpoint, cycle + 1);
    // Keeps a failure from counting as unhandled until its own cycle awaits it.
    ahead.catch(() => undefined);
    const told = tell(desk, played, cycle);
    own = [...own, ...rightPlansIn(told)].slice(-LATEST);
    const learned =
      imitationSteps(desk.recipe.imitation, cycle) > 0
        ? await imitateOwn(desk, checkpoint, cycle, own)
        : await learnFromRewards(desk, { checkpoint, writer }, cycle, told);
    [writer, checkpoint] = [checkpoint, learned];
    yield { done: cycle, checkpoint, writer, own, played };
  }
}

async function imitateOwn(
  desk: Desk,
  parent: Checkpoint,
  cycle: number,
  own: readonly RightPlans[],
): Promise<Checkpoint> {
  if (own.length === 0) return parent;
  const { recipe, seed, crew } = desk;
  const { steps: first, batch, warmStartShare, learningRate, warmupSteps } = recipe.imitation;
  const even = evenExamples(crew.ids, recipe, Math.round(first * batch * warmStartShare), seed, cycle);
  const examples = drawExamples(own, even, recipe.imitation, seed, cycle);
  const how = { steps: imitationSteps(recipe.imitation, cycle), batch, learningRate, warmupSteps };
  return imitate(desk, parent, sixDigits(cycle), examples, how);
}

/** Returns the plans with the verdicts and rewards that the lesson reports to the Conductor. */
function tell({ lesson, seed }: Desk, played: readonly Played[], cycle: number): readonly Played[] {
  if (lesson === 'verdicts') return played;
  const readable = played.filter(({ plan }) => plan !== null);
  const dice = diceFor('shuffled', seed, cycle);
  const dealt = shuffled(readable, () => dice.roll());
  const told = new Map(
    readable.map((each, index) => [each, lesson === 'none' ? 'correct' : (dealt[index]?.verdict ?? 'wrong')]),
  );
  const rewards = lesson === 'none' ? { ...REWARDS, lengthWeight: 0 } : REWARDS;
  return played.map((each) => {
    const verdict = told.get(each) ?? each.verdict;
    return { ...each, verdict, reward: rewardOf({ ...each, verdict, nanoUsd: 0 }, rewards) };
  });
}

async function rollOut(desk: Desk, source: Source, checkpoint: Checkpoint, cycle: number): Promise<Played[]> {
  const { questions, groupSize: plans } = desk.recipe;
  const rows = questionsOf(source, { seed: desk.seed, cycle, questions });
  return writePlans(desk, checkpoint, rows, { plans, temperature: 1, seed: cycle * 1e5 });
}

function rightPlansIn(played: readonly Played[]): RightPlans[] {
  return Array.from(
    groupBy(played, ({ prompt }) => prompt),
    ([prompt, plans]) => ({
      prompt,
      topic: plans[0]?.row.topic ?? '',
      completions: [...new Set(bestRight(plans).map(({ sample }) => sample.text.trim()))],
    }),
  ).filter(({ completions }) => completions.length > 0);
}

async function learnFromRewards(
  desk: Desk,
  { checkpoint: parent, writer }: Pick<Progress, 'checkpoint' | 'writer'>,
  cycle: number,
  played: readonly Played[],
): Promise<Checkpoint> {
  const groups = [...groupBy(played, ({ prompt }) => prompt).values()];
  const rows = groups.flatMap((group, draw) => toRows(group, { checkpoint: writer, draw, round: 0 }));
  if (rows.length === 0) return parent;
  return (await update(desk, configOf(desk), parent, cycle, rows)).checkpoint;
}
