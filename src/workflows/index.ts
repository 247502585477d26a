/**
 * The sandbox-safe door: re-export it from your own workflows file.
 *
 * @example
 * export * from 'temporal-conductor/workflows';
 */
export { solve } from './solve';
export {
  addHintSignal,
  approvePlanUpdate,
  editPlanUpdate,
  rejectPlanUpdate,
  setLimitsUpdate,
  setMaxDepthSignal,
  stateQuery,
} from './messages';
export { exportCheckpoint } from './training/export-checkpoint';
export { train } from './training/train';
export { trainGroup } from './training/group';
export {
  pauseTrainingSignal,
  progressQuery,
  resumeTrainingSignal,
  setBudgetUpdate,
  stopTrainingSignal,
} from './training/messages';
export { trainNightly, type NightlyInput, type NightlyResult } from './training/train-nightly';
export { warmStart } from './training/warm-start';
