/** The door for workers, clients and tools. Workflow code has its own: `temporal-conductor/workflows`. */

// Base class of all our errors, told apart by `code`.
export { ConductorError } from './errors';

// A worker that solves, and a client that asks.
export { ConductorPlugin, type ConductorPluginOptions } from './plugin';
export {
  type AttachedSolve,
  ConductorClient,
  type ConductorClientOptions,
  type SolveHandle,
  type SolveRequest,
  type StartOptions,
} from './client/conductor-client';
export type { LiveEvent } from './client/live-events';
export type { Retry } from './client/pending-call';
export type { StreamOptions } from './client/stream';
export type { ListedRun, ListOptions, RunList } from './client/list-runs';
export { BadRetryError, type RetryRequest } from './client/retry';
export { type AskedRequest, BadQuestionError } from './client/asked';
export { RefusedError } from './client/steer';
export type { HeldLimits, LimitsChange } from './protocol/messages';

// Input and result of a run, and the reasons why a call in it failed.
export { solveResultSchema, solveTraceSchema, type SolveResult, type SolveTrace } from './protocol/solve';
export { type ConversationTurn, solveInputSchema, type SolveInput } from './protocol/input';
export type { Call, CallPurpose, Problem, Usage } from './protocol/solve';
export { FAILURES, type FailureType } from './protocol/failures';

// The plan language.
export { planSchema } from './protocol/solve';
export { type Plan, type PlanContext, planWaves, type Step } from './plan/plan';
export { parsePlan } from './plan/parse';
export { renderPlan } from './plan/render';
export { PlanError, type ListName, type PlanErrorCode } from './plan/plan-error';

// The configuration.
export { loadConfig, type LoadConfigOptions, type LoadedConfig } from './config/load';
export { ConfigError, MissingKeyError } from './config/errors';
export type { Config, ConfigInput } from './config/schema';

// For an activity or workflow of yours that works in the pool: what it is given, what it returns, and long texts.
export type { VisibleStep, WorkerRequest } from './protocol/activity-contract';
export type { ExternalAnswer } from './protocol/external-worker';
export type { Text, TextRef } from './protocol/text';
export { readText, TextNotFoundError } from './store/texts';
export { openStore, type StoreOptions } from './store/open-store';
export type { Store, StoredEntry } from './store/store';
export { collectGarbage, type Collected, type CollectOptions } from './client/collect-garbage';

// Encryption of what goes to Temporal and into the store.
export { type KeyRing, readEncryptionKeys, UnknownKeyError } from './encryption/key-ring';
export { AlteredPayloadError, encryptionCodec } from './encryption/codec';
export { encryptionConverter, failureConverterPath } from './encryption/codec';
