/** A simulated world of questions and workers, in which a policy can learn to make up teams. */
export { findOptimum, optimumFor } from './optimum';
export type { Optimum } from './optimum';
export { MIDDLE_WORLD } from './worlds';
export { questionSet, toJsonLines } from './questions';
export type { QuestionRow, Split } from './questions';
export { readQuestion } from './questions';
export { replyAs } from './reply';
export { bestReview } from './optimum';
export { simulateWorld } from './start';
export { SMALL_WORLD } from './worlds';
export { startWorld } from './start';
export type { WorldOptions } from './start';
export { teamsOf } from './teams';
export { chanceOfPlan, rewardOfPlan } from './optimum';
export { warmStartExamples } from './warm-start';
export { WHOLE_WORLD } from './worlds';
export { withWorkers } from './world';
export type { World, WorldWorker } from './world';
//# sourceMappingURL=index.d.ts.map