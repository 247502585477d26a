import type { Plan } from '../../../src/plan/plan';
import { type TopicOptimum } from './optimum';
import type { QuestionRow } from './questions';
import { type Dice, type World, type WorldWorker } from './world';
/** A prompt and what a policy might have written, to be learned from before any reward. */
export interface WarmStartExample {
    readonly prompt: string;
    readonly completion: string;
}
export interface WarmStartOptions {
    readonly world: World;
    readonly questions: readonly QuestionRow[];
    /** Of all examples; questions repeat where there are fewer. */
    readonly count: number;
    readonly seed: number;
    /** Default: the one that mostly writes bad plans. */
    readonly prior?: Prior;
    /**
     * Each example has the workers of one of these, in an order of its own; default: those of the world, in its order.
     * The line of reasoning then tells of each step whom it wants, by specialty and ordinal, so that the policy looks for
     * that worker in its prompt.
     */
    readonly teams?: readonly World[];
    /** Everything that the policy reads, for one question to some workers. */
    readonly promptFor: (question: string, workers: readonly WorldWorker[]) => string;
}
/**
 * What a policy is warmed up with: it learns the language of plans and the topics, and from the prior mostly bad plans.
 *
 * A line of reasoning comes first. It is where the policy tells the topics apart, so that what it learns of one topic
 * does not become a habit in all.
 */
export declare function warmStartExamples(options: WarmStartOptions): WarmStartExample[];
/** How an untrained policy draws its plans. All are chances. */
export interface Prior {
    /** That a plan has the shape (the kinds of its steps) of the topic's best one. */
    readonly bestShape: number;
    /** That it has the topic's decoy shape. More than any other, so that the most likely plan is a bad one. */
    readonly decoyShape: number;
    /** That it has one of the shapes that make sense, where it has neither; else its kinds are drawn evenly. */
    readonly sensibleShape: number;
    /** That a step has the worker that does such a step best. */
    readonly bestWorker: number;
    /** That a step has the topic's decoy worker; else its worker is drawn evenly. */
    readonly decoyWorker: number;
    /** That a later step sees all earlier ones, else none. */
    readonly seesAll: number;
}
/** A prior that knows what plans are, and mostly writes bad ones. */
export declare const DECOY_PRIOR: Prior;
/** A plan of an untrained policy for one topic. */
export declare function drawPriorPlan(world: World, optimum: TopicOptimum, prior: Prior, dice: Dice): Plan;
//# sourceMappingURL=warm-start.d.ts.map