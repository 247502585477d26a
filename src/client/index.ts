export { type AskedRequest, BadQuestionError, checkAsked, keepAsked } from './check-question';
export { type Collected, collectGarbage, type CollectOptions } from './collect-garbage';
export {
  type AttachedSolve,
  ConductorClient,
  type ConductorClientOptions,
  type SolveHandle,
  type SolveRequest,
} from './conductor-client';
export { describeRun, statusOf } from './find-runs';
export { HistoryDecoder, readHistory } from './history';
export {
  addAttributes,
  compareAttributes,
  creationOf,
  SearchAttributeError,
  withAttributes,
} from './search-attributes';
export type { StartOptions } from './launch-solve';
export {
  completedSolves,
  findByPrefix,
  type ListedRun,
  type ListOptions,
  newestRun,
  type RunList,
  unfinishedOf,
} from './list-runs';
export type { LiveEvent } from './live/live-events';
export { BadCursorError, readCursor } from './live/told-state';
export type { Retry } from './pending-call';
export { isPolled, readQueue } from './workers/pollers';
export {
  commandOnVersion,
  type DeployedVersion,
  nameOfVersion,
  pinOf,
  readVersions,
  whyRunsWait,
} from './workers/versions';
export { BadRetryError, type RetryRequest } from './retry';
export { newEvaluationId, newRetryId, newRunId, randomPart } from './run-id';
export { isNotFound, isUnavailable, mayHaveArrived, unlessNotFound } from './server-errors';
export { SolveSpan } from './solve-span';
export { NotAllowedError, RefusedError, requireUnended, signalRun, updateRun } from './steer';
export { type StreamOptions, streamRun } from './live/stream';
export {
  type CallerCall,
  type CallerResult,
  CallOverError,
  ResultTooLongError,
  ResultDiffersError,
  type ToldCall,
} from './tools/caller-calls';
export { readRunHistory, readRunNow } from './trace-reader';
