/**
 * Entry point that is safe in the workflow sandbox: re-export it from your own workflows file.
 *
 * @example
 * export * from 'temporal-conductor/workflows';
 */
export { conductorSolve, conductorSolve as conductorSolvePart } from './solve';
export { textOf } from './activities';
export {
  addHintSignal,
  approvePlanUpdate,
  editPlanUpdate,
  rejectPlanUpdate,
  limitsQuery,
  setLimitsUpdate,
  setMaxDepthSignal,
  stateQuery,
} from './listen';
export { decideCallUpdate } from './tools/hear-decisions';
