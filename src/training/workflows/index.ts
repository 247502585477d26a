/**
 * Sandbox-safe entry point of training, of evaluations, and of the solves that both consist of: re-export it from your
 * own workflows file instead of `temporal-conductor/workflows`.
 *
 * @example
 * export * from 'temporal-conductor/training/workflows';
 */
export * from '../../evaluation/workflows';
export { conductorExportCheckpoint, conductorWarmStart } from './checkpoints';
export { conductorTrainGroup } from './group';
export { conductorTrain } from './loop';
export { pauseTrainingSignal, resumeTrainingSignal, stopTrainingSignal } from './messages';
export { progressQuery, setBudgetUpdate } from './messages';
export { conductorTrainNightly, type NightlyResult } from './nightly';
export type { NightlyInput } from '../inputs';
