import type { Plan } from '../../../src/plan/plan';
import { type Work } from './chance';
import { type Topic, type TopicName, type World } from './world';
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
export declare function findOptimum(world: World): Optimum;
/** The optimum of one topic by its name. */
export declare function optimumFor(world: World, { topics }: Optimum, name: string): TopicOptimum;
/**
 * Every plan of up to `world.maxSteps` steps in which a step sees all or nothing, shorter ones first; the chance that
 * it would come up, were the number of steps, then each worker, kind and view drawn evenly, beside each.
 */
export declare function everyPlan(world: World): Generator<{
    readonly plan: Plan;
    readonly share: number;
}>;
/**
 * The exact chance that a plan's answer is right, over all ways its steps can turn out: 2 to the power of its steps.
 *
 * @param given answers that every step is shown, as in a review; with no steps at all, the last of them stands
 */
export declare function chanceOfPlan(world: World, topic: Topic, plan: Plan, given?: readonly Work[]): number;
/** The exact expected reward of a plan. */
export declare function rewardOfPlan(world: World, topic: Topic, plan: Plan): number;
/** @param chance that the answer is right */
export declare function toReward(chance: number): number;
/** The best that a second round can do after one plan. */
export interface ReviewOptimum {
    /** What to do where the worker says it is sure; no steps: accept the answer. */
    readonly onSure: Plan;
    readonly onDoubt: Plan;
    /** That the answer is right after the second round. */
    readonly chance: number;
    /** That an answer which was right is wrong after it. */
    readonly spoils: number;
}
/**
 * The best review of a plan, whose answer every step of the new plan is shown. It knows no more than what the last
 * worker said: the answer, and whether it is sure.
 *
 * @param chance that the first answer is right
 */
export declare function bestReview(world: World, topic: Topic, { plan, chance }: Valued): ReviewOptimum;
//# sourceMappingURL=optimum.d.ts.map