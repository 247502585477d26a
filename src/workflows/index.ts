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
export { conductorExportCheckpoint } from '../training/workflows/checkpoints';
export { conductorTrain, conductorWarmStart } from '../training/workflows/loop';
export { conductorTrainGroup } from '../training/workflows/group';
export {
  pauseTrainingSignal,
  progressQuery,
  resumeTrainingSignal,
  setBudgetUpdate,
  stopTrainingSignal,
} from '../training/workflows/messages';
export { conductorTrainNightly, type NightlyInput, type NightlyResult } from '../training/workflows/nightly';
