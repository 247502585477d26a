/** Entry point for workers that evaluate; `temporal-conductor/evaluation/workflows` has the workflows. */
export { EvaluationPlugin } from './plugin';
export type { CustomGradeRequest } from './contract';
