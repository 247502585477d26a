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
} from './listen';
export { exportCheckpoint } from '../training/workflows/trainer-jobs';
export { train } from '../training/workflows/train';
export { trainGroup } from '../training/workflows/group';
export {
  pauseTrainingSignal,
  progressQuery,
  resumeTrainingSignal,
  setBudgetUpdate,
  stopTrainingSignal,
} from '../training/workflows/messages';
export { trainNightly, type NightlyInput, type NightlyResult } from '../training/workflows/nightly';
export { warmStart } from '../training/workflows/trainer-jobs';
