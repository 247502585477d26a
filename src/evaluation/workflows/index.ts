/**
 * Sandbox-safe entry point for the workflows of evaluations and of their solves: re-export it from your own workflows
 * file instead of `temporal-conductor/workflows`.
 *
 * @example
 * export * from 'temporal-conductor/evaluation/workflows';
 */
export * from '../../workflows';
export { conductorEvaluate, evaluationProgressQuery } from './evaluate';
export { conductorEvaluateQuestion } from './question';
