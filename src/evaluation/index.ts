/** The door of evaluations: a worker that evaluates. Their workflows have a door of their own. */
export { EvaluationPlugin } from './plugin';
export type { CustomGradeRequest } from './contract';
