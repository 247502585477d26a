/** Public API of training: a worker that trains and serves checkpoints; nights started by hand or on a schedule. */
export { TrainingPlugin, type TrainingPluginOptions } from './plugin';
export {
  TrainingClient,
  type NightHandle,
  type NightRequest,
  type TrainingClientOptions,
} from './client/training-client';
export {
  findSchedule,
  removeSchedule,
  scheduleNights,
  type NightSchedule,
  type ScheduleRequest,
} from './client/schedule';
export type { CustomGradeRequest } from '../evaluation/definitions';
export type { NightBudget, NightProgress } from './contract';
export { loadTrainableConfig } from './config/load';
export type { TrainableConfig, TrainableInput } from './config/schema';
