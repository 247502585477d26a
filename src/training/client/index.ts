export { askForWarmStart, readQuestions, readRows } from '../activities/data';
export {
  type AskedHow,
  askedHow,
  type ExampleRow,
  exampleRowSchema,
  tryExample,
  writeExample,
} from '../activities/examples';
export { sizeOfWeights, sweepWeights } from '../activities/forget-checkpoints';
export {
  advanceRun,
  listTrainRuns,
  readCanary,
  readCycle,
  readCycleGroups,
  readGate,
  readMetrics,
  readNights,
  readTrainRun,
  readTrainQuestions,
  readTrainRuns,
  type TrainedNight,
} from '../activities/records';
export { effortCurves, learningCurves, tableOf } from '../curves';
export { openFiles, openSealed } from '../artifacts';
export { examplesOfRun, type GradedSolve, gradeSolve } from './examples';
export { byLength, chooseVaried, examplesIn } from './few-shot';
export { planPromptedGroups } from './prompted-groups';
export { findSchedule, holdSchedule, type NightSchedule, removeSchedule, scheduleNights } from './schedule';
export { beginExport, beginWarmStart, TrainingClient } from './training-client';
export {
  listCheckpoints,
  pin,
  promote,
  readCheckpointManifest,
  readServing,
  rollback,
  type ServingChange,
} from '../policy/serving';
export { createPolicyProvider } from '../policy/conductor';
export { PolicyError } from '../policy/errors';
