export type { NightProgress } from './contract';
export { describeSmallSet } from './gate-rule';
export {
  canaryRecordSchema,
  type CycleMetrics,
  cycleMetricsSchema,
  type TrainingExample,
  trainingExampleSchema,
  gateRecordSchema,
  type GroupRecord,
  groupRecordSchema,
  nightRecordSchema,
  type Rollout,
  servingSchema,
  type TopicMetrics,
} from './records';
export { type ExportResult, trainRunSchema } from './trainer-contract';
