/** A simulated world of questions and workers, in which a policy can learn to make up teams. */
export { findOptimum, optimumFor } from './find-optimum';
export type { Optimum } from './find-optimum';
export { MIDDLE_WORLD } from './middle-world';
export { questionSet, toJsonLines } from './question-set';
export type { QuestionRow, Split } from './question-set';
export { readQuestion } from './question-text';
export { replyAs } from './reply-as';
export { bestReview } from './review';
export { simulateWorld } from './simulate-world';
export { SMALL_WORLD } from './small-world';
export { startWorld } from './start-world';
export type { WorldOptions } from './start-world';
export { teamsOf } from './teams';
export { chanceOfPlan, rewardOfPlan } from './value-plan';
export { warmStartExamples } from './warm-start';
export { WHOLE_WORLD } from './whole-world';
export { withWorkers } from './world';
export type { World, WorldWorker } from './world';
