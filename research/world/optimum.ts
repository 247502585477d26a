import type { Plan, Step } from '../../src/plan/plan';
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

/** A plan and its exact value. */
export interface Valued {
  readonly plan: Plan;
  /** Chance that its answer is right. */
  readonly chance: number;
}

/** Exact optimum of a topic. */
export interface TopicOptimum {
  readonly topic: TopicName;
  /** Best plan; a shortest one if several are equal. */
  readonly best: Valued;
  /** The best plan of one step. */
  readonly single: Valued;
  /** Mean chance of a plan drawn uniformly. */
  readonly random: number;
}

/** Exact optimum of a world; means over its topics. */
export interface Optimum {
  readonly topics: readonly TopicOptimum[];
  readonly chance: number;
  readonly reward: number;
  /** Mean chance of the single worker that is best overall, asked alone. */
  readonly bestWorker: number;
  readonly random: number;
}

/** Values every plan of a world; takes a second for the whole one. */
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

/** Returns the optimum of the topic with this name. */
export function optimumFor(world: World, { topics }: Optimum, name: string): TopicOptimum {
  const { name: known } = topicOf(world, name);
  const found = topics.find(({ topic }) => topic === known);
  if (found) return found;
  throw new RangeError(
    `This optimum was found for another world, without ${known}; find that of the ${world.name} one.`,
  );
}

/** Chances that differ by less than this count as equal. */
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
 * Yields every plan of up to `world.maxSteps` steps in which a step sees all or nothing, shorter ones first, each
 * with its probability if the number of steps, then each worker, kind and view were drawn uniformly.
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

/** Reward of a plan with a wrong answer; a right answer adds the rest up to 1 (paper section 3.1). */
const PARSEABLE = 0.5;

/**
 * Returns the exact chance that a plan's answer is right, over all 2^n outcomes of its n steps.
 *
 * @param given answers that every step is shown, as in a review; without steps, the last of them stands
 */
export function chanceOfPlan(world: World, topic: Topic, plan: Plan, given: readonly Work[] = []): number {
  return chanceFrom(world, topic, plan.steps, [], given);
}

/** Returns the exact expected reward of a plan. */
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

/** Returns whether the last reply is a right answer; a plan is no answer. */
function isRight(work: Work | undefined): boolean {
  return work?.is === 'answer' && work.isGood;
}

/** Best second round after one plan. */
export interface ReviewOptimum {
  /** Plan to write when the worker says it is sure; no steps: accept the answer. */
  readonly onSure: Plan;
  readonly onDoubt: Plan;
  /** Chance that the answer is right after the second round. */
  readonly chance: number;
  /** Chance that a right answer becomes wrong. */
  readonly spoils: number;
}

/**
 * Finds the best review of a plan, whose answer every step of the new plan is shown. It knows only what the last
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

/** Finds the best plan, given the joint chances of a right and a wrong answer; the returned chance is joint as well. */
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

/** Properties of an earlier reply that matter to workers who see it. */
export type Work =
  | { readonly is: 'plan'; readonly isGood: boolean }
  /** A revision mends or spoils an answer that its writer saw. */
  | { readonly is: 'answer'; readonly isGood: boolean; readonly isRevision: boolean };

type AnswerWork = Extract<Work, { is: 'answer' }>;

/** Factor on a solver's chance under a flawed plan. */
const FLAWED = 0.7;
/** Factor on any chance for each distracting answer. */
const CLUTTER = 0.97;
/** Factor on the chance to mend for each earlier revision that failed to. */
const REPEAT = 0.1;
/** Factor on the chance to solve for a checker or refiner that sees no answer. */
const BLIND = 0.5;

/**
 * Returns the chance that a worker's reply is good, given the replies it sees, oldest first.
 *
 * A sound plan helps a solver, and answers distract it. A checker or refiner works on the last answer, may mend or
 * spoil it, and hardly ever mends what another revision of it left wrong. Only the newest visible plan counts.
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

/** Returns a reply as later workers see it. A checker that saw no answer wrote its own. */
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
