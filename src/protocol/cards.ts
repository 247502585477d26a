import { z } from 'zod';
import { ACCESS_MODES, DESCRIBE_MODES, EXAMPLE_SET_NAMES, LAYOUTS, MAX_EXAMPLES } from '../plan/plan';
import { MAX_CALLS, MAX_STEPS, MAX_WALL_CLOCK_MS } from './messages';
import { planSchema } from './solve';
import { callPriceSchema, toolsetSchema } from './tool-cards';

// Models and workers as a run knows them. Workflows import only the types: their sandbox must not load zod.

const milliseconds = z.int().min(1).max(MAX_WALL_CLOCK_MS);
const count = z.int().min(1);
/** Bound far beyond any model's rate, so that sums stay exact. */
const rate = z.number().min(0).max(1e6);

const ratesSchema = z.object({
  input: rate,
  output: rate,
  /** For input that the provider had cached; absent if it costs the same. */
  cachedInput: rate.optional(),
  /** For input written to the provider's cache; absent if it costs the same. */
  cacheWrite: rate.optional(),
  /** For cache writes kept for an hour; absent if they cost as much as other writes. */
  hourCacheWrite: rate.optional(),
});
export type Rates = z.infer<typeof ratesSchema>;

const tierSchema = ratesSchema.extend({
  /** Rates of a whole request whose input has more than `over` tokens. */
  longPrompt: ratesSchema.extend({ over: count }).optional(),
});

const priceSchema = tierSchema.extend({
  /** By service tier: a factor on the rates, or a price. Unlisted tiers are unknown; without a list, all are alike. */
  tiers: z.record(z.string(), z.union([rate, tierSchema])).optional(),
});
export type Price = z.infer<typeof priceSchema>;

/** Settings that a model's API takes. Others are left out of the request and recorded as dropped. */
const capabilitiesSchema = z.object({
  sampling: z.boolean(),
  /** Effort levels, lowest first; empty if the model has no such setting. */
  effort: z.array(z.string()).readonly(),
  /** A budget of thinking tokens. @default false */
  thinking: z.boolean().optional(),
  jsonSchema: z.boolean(),
  /** Tools whose input is a text, through the Responses API; elsewhere they are functions. @default false */
  textTools: z.boolean().optional(),
  /** Most output tokens that one request may ask for; null if unknown. */
  maxOutputTokens: count.nullable(),
});
export type Capabilities = z.infer<typeof capabilitiesSchema>;

const settings = {
  /** `policy`: a checkpoint trained here, which only a Conductor can be. */
  provider: z.enum(['openai', 'anthropic', 'google', 'local', 'policy']),
  model: z.string(),
  /** Which of OpenAI's two APIs to use; null for the other vendors. */
  api: z.enum(['responses', 'chat']).nullable(),
  /** The vendor writes answers while no one waits (Responses API only); absent if the connection is held open. */
  background: z.literal(true).optional(),
  baseUrl: z.string().nullable(),
  /** Proxy on the way there; absent if the environment of the process that calls decides. */
  proxy: z.string().optional(),
  /** Name of the environment variable that holds the key; null if the server needs none. */
  apiKeyEnv: z.string().nullable(),
  maxOutputTokens: count,
  temperature: z.number().nullable(),
  effort: z.string().nullable(),
  topP: z.number().optional(),
  topK: z.number().optional(),
  presencePenalty: z.number().optional(),
  /** Most thinking tokens, which count towards `maxOutputTokens`; 0: none, absent: up to the model. */
  thinking: z.int().min(0).optional(),
  /** Request fields for which there is no setting. */
  extraBody: z.record(z.string(), z.unknown()).readonly().optional(),
  timeoutMs: milliseconds,
  /** Longest silence in a stream; absent if answers are not streamed. */
  idleTimeoutMs: milliseconds.optional(),
  capabilities: capabilitiesSchema,
  /** null: unknown, so costs of this card are unknown too. */
  price: priceSchema.nullable(),
  /** Source of the price: `card`, or the bundled table's version. */
  priceVersion: z.string().nullable(),
};

const member = {
  id: z.string(),
  notes: z.string().nullable(),
  /** Ids of workers to use after this one has failed for good. */
  fallback: z.array(z.string()).readonly(),
};

export const modelSchema = z.object({
  kind: z.literal('model'),
  ...member,
  ...settings,
  layout: z.enum(LAYOUTS),
  instructions: z.string().optional(),
  /** Names in the configuration's `tools` that it may call; absent if none. */
  tools: z.array(z.string()).readonly().optional(),
  /** Longest wait asked for by the provider after which it is asked again, if a fallback could be. @default 2 minutes */
  maxWaitMs: milliseconds.optional(),
});
export type ModelCard = z.infer<typeof modelSchema>;
export type ModelProvider = ModelCard['provider'];

/** Worker that is any Temporal activity or workflow: takes a `WorkerRequest`, returns an `ExternalAnswer`. */
const externalSchema = z.object({
  kind: z.enum(['activity', 'workflow']),
  ...member,
  timeoutMs: milliseconds,
  type: z.string(),
  taskQueue: z.string(),
  /** Absent if unknown. */
  price: callPriceSchema.optional(),
});
export type ExternalCard = z.infer<typeof externalSchema>;

export const workerSchema = z.discriminatedUnion('kind', [modelSchema, externalSchema]);
export type RunWorker = z.infer<typeof workerSchema>;

export const planExampleSchema = z.strictObject({
  question: z.string().min(1),
  reasoning: z.string(),
  plan: planSchema.refine(({ steps }) => steps.length > 0, { error: 'expected a plan of at least one step' }),
});

export const conductorSchema = z.object({
  ...settings,
  describe: z.enum(DESCRIBE_MODES),
  /** How plans say which outputs a step sees; absent in older histories. @default 'any' */
  access: z.enum(ACCESS_MODES).optional(),
  /** false: every worker is sent the same subtask, whatever the Conductor writes. @default true */
  subtasks: z.boolean().optional(),
  /**
   * `<training run>/<name>` of the checkpoint to use. Absent for a prompted Conductor, and before the run is resolved
   * if the configuration names no checkpoint.
   */
  checkpoint: z.string().optional(),
  /** How much the Conductor is told besides the question, see `ConductorPrompt`. @default 'full' */
  prompt: z.enum(['full', 'compact']).optional(),
  /** Examples in a full prompt: a bundled set, or those that a checkpoint was trained with. @default 'out-of-domain' */
  examples: z
    .union([z.enum(EXAMPLE_SET_NAMES), z.array(planExampleSchema).max(MAX_EXAMPLES).readonly()])
    .optional(),
  /** First plan of every solve, for which no model is asked. */
  plan: planSchema.optional(),
});
export type ConductorCard = z.infer<typeof conductorSchema>;

/** Card of a model that is called: as the Conductor, a worker, a baseline or the verifier. */
export type CalledCard = ConductorCard | ModelCard;

export const runLimitsSchema = z.object({
  steps: z.int().min(1).max(MAX_STEPS),
  /** How deep the Conductor may call itself; 0: not at all, null: as deep as the other limits allow. */
  depth: z.int().min(0).nullable(),
  /** Requests to models, free ones included. */
  calls: z.int().min(1),
  /** Input and output; null: no limit. */
  tokens: z.int().min(0).nullable(),
  /** 10⁻⁹ USD; null: no limit. */
  nanoUsd: z.int().min(0).nullable(),
  wallClockMs: milliseconds,
  approvalMs: milliseconds,
});
export type RunLimits = z.infer<typeof runLimitsSchema>;
/** Limits of a run or a child of it on what it spends. */
export type SpendingLimits = Pick<RunLimits, 'calls' | 'tokens' | 'nanoUsd'>;

/** Settings that a run keeps to its end, whatever changes on disk. Holds names of environment variables, never keys. */
export const runSchema = z.object({
  conductor: conductorSchema,
  /** Workers that this run may use, in the order of the configuration: the index is the plan's ordinal. */
  workers: z.array(workerSchema).min(1).readonly(),
  limits: runLimitsSchema,
  /** Tools that its workers list; absent if none. */
  toolset: toolsetSchema.exactOptional(),
  /** How the Conductor may call itself while depth remains: to review an answer, as a worker of its plan, or both. */
  recursion: z.enum(['review', 'worker', 'both', 'never']),
  heartbeatMs: milliseconds,
  /** Calls of a model go to `<task queue>-<provider>` instead of the run's own queue. */
  queuePerProvider: z.boolean(),
  /** Id of the store in which the run began; absent if it is of a kind that has none. */
  storeId: z.string().exactOptional(),
});
export type ResolvedRun = z.infer<typeof runSchema>;

/** Run of one solve. Its calls are bounded, since a result that lists more would not fit a payload. */
export const solveRunSchema = runSchema.extend({
  limits: runLimitsSchema.extend({ calls: z.int().min(1).max(MAX_CALLS) }),
});
