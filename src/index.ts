/** Entry point for workers, clients and tools. Workflow code imports `temporal-conductor/workflows` instead. */

// Base class of all our errors, which differ by `code`.
export { ConductorError } from './errors';

// Worker plugin and client.
export { ConductorPlugin, type ConductorPluginOptions } from './plugin';
export { type CodeTool, type CodeTools, defineTool, type ToolContext } from './activities';
export type { ToolRequest } from './protocol/tool-use';
export {
  type AttachedSolve,
  ConductorClient,
  type ConductorClientOptions,
  type SolveHandle,
  type SolveRequest,
  type StartOptions,
} from './client';
export type { LiveEvent } from './client';
export type { Retry } from './client';
export type { StreamOptions } from './client';
export type { ListedRun, ListOptions, RunList } from './client';
export { BadRetryError, type RetryRequest } from './client';
export { type AskedRequest, BadQuestionError } from './client';
export { RefusedError, SearchAttributeError } from './client';
export type { HeldLimits, LimitsChange } from './protocol/messages';

// Input and result of a run, and the reasons why its calls failed.
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

// For your own activity or workflow in the pool: its input, its result, and access to long texts.
export type { VisibleStep, WorkerRequest } from './protocol/activity-contract';
export type { ExternalAnswer } from './protocol/planning';
export type { Text, TextRef } from './protocol/text';
export { readText, TextNotFoundError } from './store/texts';
export { openStore, type StoreOptions } from './store/open-store';
export type { Store, StoredEntry } from './store/store';
export { collectGarbage, type Collected, type CollectOptions } from './client';

// Buckets of the metrics that a worker records, for whoever installs the SDK's `Runtime`.
export { METRIC_BUCKETS } from './telemetry/metrics';

// Encryption of everything sent to Temporal or stored.
export { type KeyRing, readEncryptionKeys, UnknownKeyError } from './encryption/key-ring';
export { AlteredPayloadError, encryptionCodec } from './encryption/codec';
export { encryptionConverter, failureConverterPath } from './encryption/codec';
