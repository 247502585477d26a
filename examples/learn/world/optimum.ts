import type { Plan, Step } from '../../../src/plan/plan';
import { CANDOUR } from './simulate';
import {
  type Kind,
  type Topic,
  type TopicName,
  topicOf,
  workerOf,
  type World,
  type WorldWorker,
} from './world';

/** A plan and what it is exactly worth. */
export interface Valued {
  readonly plan: Plan;
  /** Chance that its answer is right. */
  readonly chance: number;
}

/** Exact optimum of a topic. */
export interface TopicOptimum {
  readonly topic: TopicName;
  /** Best plan; of several the shortest. */
  readonly best: Valued;
  /** The best plan of one step. */
  readonly single: Valued;
  /** Mean chance of a plan that is drawn evenly. */
  readonly random: number;
}

/** Exact optimum of a world; means over its topics. */
export interface Optimum {
  readonly topics: readonly TopicOptimum[];
  readonly chance: number;
  readonly reward: number;
  /** Mean chance of the one worker that is best asked everything, alone. */
  readonly bestWorker: number;
  readonly random: number;
}

/** Values every plan of a world; a second for the whole one. */
export function findOptimum(world: World): Optimum {
  const topics = world.topics.map((topic) => optimumOf(world, topic));
  const chance = mean(topics.map(({ best }) => best.chance));
  return {
    topics,
    chance,
    reward: toReward(chance),
    bestWorker: Math.max(
      ...world.workers.map(({ solve }) => mean(world.topics.map(({ name }) => solve[name]))),
    ),
    random: mean(topics.map(({ random }) => random)),
  };
}

/** The optimum of one topic by its name. */
export function optimumFor(world: World, { topics }: Optimum, name: string): TopicOptimum {
  const { name: known } = topicOf(world, name);
  const found = topics.find(({ topic }) => topic === known);
  if (found) return found;
  throw new RangeError(
    `This optimum was found for another world, without ${known}; find that of the ${world.name} one.`,
  );
}

/** Apart by less than this, two chances are the same. */
const ROUNDING = 1e-12;

function optimumOf(world: World, topic: Topic): TopicOptimum {
  let best: Valued = { plan: { steps: [] }, chance: 0 };
  let single = best;
  let random = 0;
  for (const { plan, share } of everyPlan(world)) {
    const chance = chanceOfPlan(world, topic, plan);
    if (chance > best.chance + ROUNDING) best = { plan, chance };
    if (plan.steps.length === 1 && chance > single.chance) single = { plan, chance };
    random += share * chance;
  }
  return { topic: topic.name, best, single, random };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

const KINDS: readonly Kind[] = ['plan', 'solve', 'verify', 'refine'];

/**
 * Every plan of up to `world.maxSteps` steps in which a step sees all or nothing, shorter ones first; the chance that
 * it would come up, were the number of steps, then each worker, kind and view drawn evenly, beside each.
 */
export function* everyPlan(world: World): Generator<{ readonly plan: Plan; readonly share: number }> {
  for (let length = 1; length <= world.maxSteps; length += 1) {
    for (const { plan, share } of plansOf(world, length)) yield { plan, share: share / world.maxSteps };
  }
}

function* plansOf(world: World, length: number): Generator<{ readonly plan: Plan; readonly share: number }> {
  if (length === 0) {
    yield { plan: { steps: [] }, share: 1 };
    return;
  }
  const last = stepsAt(world, length - 1);
  for (const { plan, share } of plansOf(world, length - 1)) {
    for (const step of last) yield { plan: { steps: [...plan.steps, step] }, share: share / last.length };
  }
}

function stepsAt({ workers, phrases }: World, index: number): Step[] {
  const all = Array.from({ length: index }, (_, earlier) => earlier);
  const views = index === 0 ? [[]] : [[], all];
  return workers.flatMap(({ id }) =>
    KINDS.flatMap((kind) => views.map((sees) => ({ worker: id, subtask: phrases[kind], sees }))),
  );
}

/** Reward of a plan whose answer is wrong, and what a right one adds (paper section 3.1). */
const PARSEABLE = 0.5;

/**
 * The exact chance that a plan's answer is right, over all ways its steps can turn out: 2 to the power of its steps.
 *
 * @param given answers that every step is shown, as in a review; with no steps at all, the last of them stands
 */
export function chanceOfPlan(world: World, topic: Topic, plan: Plan, given: readonly Work[] = []): number {
  return chanceFrom(world, topic, plan.steps, [], given);
}

/** The exact expected reward of a plan. */
export function rewardOfPlan(world: World, topic: Topic, plan: Plan): number {
  return toReward(chanceOfPlan(world, topic, plan));
}

/** @param chance that the answer is right */
export function toReward(chance: number): number {
  return PARSEABLE + (1 - PARSEABLE) * chance;
}

function chanceFrom(
  world: World,
  topic: Topic,
  steps: readonly Step[],
  done: readonly Work[],
  given: readonly Work[],
): number {
  const step = steps[done.length];
  if (step === undefined) return isRight(done.at(-1) ?? given.at(-1)) ? 1 : 0;
  const kind = kindOf(step.subtask);
  const seen = [...given, ...done.filter((_, index) => step.sees.includes(index))];
  const chance = chanceOf(topic, workerOf(world, step.worker), kind, seen);
  const after = (isGood: boolean): number =>
    chanceFrom(world, topic, steps, [...done, workOf(kind, isGood, seen)], given);
  return chance * after(true) + (1 - chance) * after(false);
}

/** A plan as last reply answers nothing. */
function isRight(work: Work | undefined): boolean {
  return work?.is === 'answer' && work.isGood;
}

/** The best that a second round can do after one plan. */
export interface ReviewOptimum {
  /** Plan to write when the worker says it is sure; no steps: accept the answer. */
  readonly onSure: Plan;
  readonly onDoubt: Plan;
  /** Chance that the answer is right after the second round. */
  readonly chance: number;
  /** Chance that a right answer is wrong after it. */
  readonly spoils: number;
}

/**
 * The best review of a plan, whose answer every step of the new plan is shown. It knows no more than what the last
 * worker said: the answer, and whether it is sure.
 *
 * @param chance that the first answer is right
 */
export function bestReview(world: World, topic: Topic, { plan, chance }: Valued): ReviewOptimum {
  const kind = kindOf(plan.steps.at(-1)?.subtask ?? 'solve');
  const isRevision = (kind === 'verify' || kind === 'refine') && plan.steps.length > 1;
  const onSure = bestAfter(world, topic, isRevision, chance * CANDOUR, (1 - chance) * (1 - CANDOUR));
  const onDoubt = bestAfter(world, topic, isRevision, chance * (1 - CANDOUR), (1 - chance) * CANDOUR);
  const spoils = ({ plan: review }: Valued): number =>
    1 - chanceOfPlan(world, topic, review, [{ is: 'answer', isGood: true, isRevision }]);
  return {
    onSure: onSure.plan,
    onDoubt: onDoubt.plan,
    chance: onSure.chance + onDoubt.chance,
    spoils: CANDOUR * spoils(onSure) + (1 - CANDOUR) * spoils(onDoubt),
  };
}

/** The weights say how likely it is to come here with a right and with a wrong answer; so does the chance returned. */
function bestAfter(world: World, topic: Topic, isRevision: boolean, right: number, wrong: number): Valued {
  const given = (isGood: boolean): Work[] => [{ is: 'answer', isGood, isRevision }];
  let best: Valued = { plan: { steps: [] }, chance: right };
  for (const { plan } of everyPlan(world)) {
    const chance =
      right * chanceOfPlan(world, topic, plan, given(true)) +
      wrong * chanceOfPlan(world, topic, plan, given(false));
    if (chance > best.chance + 1e-12) best = { plan, chance };
  }
  return best;
}

/** An earlier reply, as far as it matters to whoever sees it. */
export type Work =
  | { readonly is: 'plan'; readonly isGood: boolean }
  /** A revision mends or spoils an answer that its writer saw. */
  | { readonly is: 'answer'; readonly isGood: boolean; readonly isRevision: boolean };

type AnswerWork = Extract<Work, { is: 'answer' }>;

/** Left of a solver's chance under a flawed plan. */
const FLAWED = 0.7;
/** Left of any chance for each answer that only distracts. */
const CLUTTER = 0.97;
/** Left of the chance to mend for each revision that failed to before. */
const REPEAT = 0.1;
/** Left of the chance to solve for a checker who has nothing to check. */
const BLIND = 0.5;

/**
 * The law of the world: how likely a worker's reply is good, given the replies it sees, oldest first.
 *
 * A solver is helped by a sound plan and distracted by answers. A checker or refiner works on the last answer, may mend
 * or spoil it, and hardly ever mends what another revision of it left wrong. The newest visible plan is the one that counts.
 */
export function chanceOf(topic: Topic, worker: WorldWorker, kind: Kind, seen: readonly Work[]): number {
  if (kind === 'plan') return worker.plan[topic.name];
  const answers = seen.filter((work): work is AnswerWork => work.is === 'answer');
  const last = answers.at(-1);
  if (kind === 'solve') return solveChance(topic, worker, seen) * CLUTTER ** answers.length;
  if (last === undefined) return solveChance(topic, worker, seen) * BLIND;
  const fresh = answers.findLastIndex(({ isRevision }) => !isRevision);
  const revisions = answers.length - 1 - fresh;
  const clutter = CLUTTER ** Math.max(0, answers.length - revisions - 1);
  if (last.isGood) return (1 - spoilChance(topic, worker, kind)) * clutter;
  return worker[kind][topic.name] * REPEAT ** revisions * clutter;
}

/** Value of a reply for those who see it. A checker who saw no answer wrote one of its own. */
export function workOf(kind: Kind, isGood: boolean, seen: readonly Work[]): Work {
  if (kind === 'plan') return { is: 'plan', isGood };
  return { is: 'answer', isGood, isRevision: kind !== 'solve' && seen.some(({ is }) => is === 'answer') };
}

function solveChance({ name, lift }: Topic, worker: WorldWorker, seen: readonly Work[]): number {
  const alone = worker.solve[name];
  const plan = seen.findLast(({ is }) => is === 'plan');
  if (plan === undefined) return alone;
  return plan.isGood ? 1 - (1 - alone) * (1 - lift) : alone * FLAWED;
}

function spoilChance(topic: Topic, worker: WorldWorker, kind: 'verify' | 'refine'): number {
  return kind === 'verify' ? topic.verifySpoils * worker.checkSpoils : topic.refineSpoils;
}

const WORDS: Readonly<Record<string, Kind>> = {
  plan: 'plan',
  outline: 'plan',
  sketch: 'plan',
  solve: 'solve',
  answer: 'solve',
  compute: 'solve',
  check: 'verify',
  verify: 'verify',
  review: 'verify',
  refine: 'refine',
  improve: 'refine',
  polish: 'refine',
};

/** Reads the kind of a subtask from its first word; anything unknown asks for a solution. */
export function kindOf(subtask: string): Kind {
  const [word = ''] = /\p{Letter}+/u.exec(subtask) ?? [];
  return WORDS[word.toLowerCase()] ?? 'solve';
}
