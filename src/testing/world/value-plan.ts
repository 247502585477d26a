import type { Plan, Step } from '../../plan/plan';
import { chanceOf, workOf, type Work } from './chance';
import { kindOf } from './kind-of';
import { workerOf, type Topic, type World } from './world';

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
