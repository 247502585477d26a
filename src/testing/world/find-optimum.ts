import type { Plan } from '../../plan/plan';
import { everyPlan } from './every-plan';
import { chanceOfPlan, toReward } from './value-plan';
import { topicOf, type Topic, type TopicName, type World } from './world';

/** A plan and what it is exactly worth. */
export interface Valued {
  readonly plan: Plan;
  /** That its answer is right. */
  readonly chance: number;
}

/** What a topic holds for a policy, all of it exact. */
export interface TopicOptimum {
  readonly topic: TopicName;
  /** Of several best plans the shortest. */
  readonly best: Valued;
  /** The best plan of one step. */
  readonly single: Valued;
  /** Mean chance of a plan that is drawn evenly. */
  readonly random: number;
}

/** What a world holds for a policy; means over its topics. */
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
