/**
 * The sandbox-safe door of evaluations, and of the solves that they are made of: re-export it from your own workflows file
 * instead of `temporal-conductor/workflows`.
 *
 * @example
 * export * from 'temporal-conductor/evaluation/workflows';
 */
export * from '../../workflows';
export { conductorEvaluate, evaluationProgressQuery } from './evaluate';
export { conductorEvaluateQuestion } from './question';
