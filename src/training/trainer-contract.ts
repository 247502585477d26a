import { z } from 'zod';
import * as names from './names';

// Requests to the trainer and its answers: `npm run generate` writes them as JSON Schema into `trainer/`, and the
// Python side checks every message against it. Its shape is Tinker's, so that another backend fits behind it.

const count = z.int().positive();
const share = z.number().min(0).max(1);

/** Name of a training run: part of store keys and of model names. */
export const trainRunSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, {
  error: 'expected up to 63 lowercase letters, digits and dashes, beginning with a letter or digit',
});

/** Tiny Qwen2 with random weights and a byte-level tokenizer trained on texts. */
export const tinySchema = z.strictObject({
  kind: z.literal('tiny'),
  vocabulary: z.int().min(300).default(400),
  hidden: count.default(64),
  layers: count.default(2),
  heads: count.default(4),
  keyValueHeads: count.default(2),
  feedForward: count.default(128),
  maxPositions: count.default(1024),
  initializerRange: z.number().positive().default(0.08),
});

/** Weights that a warm start changes: those that the run's tuning changes, or all. */
export const warmedWeights = z.enum(['tuned', 'all']);

export const tuningSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('full') }),
  z.strictObject({
    kind: z.literal('lora'),
    rank: count.default(32),
    alpha: z.number().positive().default(32),
    targets: z.string().min(1).default('all-linear'),
    /** Learns on a base in 4 bits (NF4 with quantized scales: QLoRA); absent: in the precision of arithmetic. */
    quantize: z.literal('4bit').exactOptional(),
  }),
]);

export const lossSchema = z
  .strictObject({
    name: z.enum(['dapo', 'grpo', 'bnpo', 'dr_grpo']).default('bnpo'),
    epsilon: share.gt(0).default(0.2),
    epsilonHigh: z.number().positive().default(0.2),
    /** Clipped probability ratio: one per token, or one per reply, its tokens' geometric mean (GSPO). */
    ratio: z.enum(['token', 'sequence']).default('token'),
    /** Weight of the KL term against the latest base, warm-start or imitation checkpoint; 0 loads no such model. */
    beta: z.number().nonnegative().default(0),
    /** Weight of the entropy bonus (mean entropy per token, in nats). */
    entropy: z.number().nonnegative().default(0),
    /** Correction for the sampler's probabilities: importance weights, in TRL's terms. */
    correction: z
      .enum(['none', 'token_truncate', 'token_mask', 'sequence_truncate', 'sequence_mask'])
      .default('token_truncate'),
    mostWeight: z.number().positive().default(3),
    maskTruncated: z.boolean().default(false),
  })
  .refine(({ epsilon, epsilonHigh }) => epsilonHigh >= epsilon, {
    path: ['epsilonHigh'],
    error: 'expected at least epsilon',
  });

export const optimizerSchema = z.strictObject({
  /** `adamw8bit` keeps moments in 8 bits; absent: `adamw`, which keeps 32. */
  name: z.enum(['adamw', 'adamw8bit']).exactOptional(),
  learningRate: z.number().positive().default(1e-6),
  beta1: share.default(0.9),
  beta2: share.default(0.999),
  epsilon: z.number().positive().default(1e-8),
  weightDecay: z.number().nonnegative().default(0),
  maxGradNorm: z.number().positive().default(1),
  /** `wsd`: warmup, stable, decay; the rate falls to 0 over the last third. */
  schedule: z.enum(['constant', 'cosine', 'linear', 'wsd']).default('cosine'),
  warmupSteps: z.int().nonnegative().default(6),
});

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const trainRun = trainRunSchema;
const name = trainRunSchema;
const parent = z.strictObject({ trainRun, name });
const stored = z.strictObject({ key: z.string(), sha256 });

const baseSchema = z.discriminatedUnion('kind', [
  /** Folder with a Hugging Face model and its tokenizer, on the trainer's machine. */
  z.strictObject({ kind: z.literal('folder'), path: z.string() }),
  tinySchema.extend({ texts: stored }),
]);

/** Everything but the batch that decides an update; equal for all cycles of a run. */
export const trainerConfigSchema = z.strictObject({
  seed: z.int().nonnegative(),
  device: z.enum(['cpu', 'cuda']),
  precision: z.enum(['float32', 'bfloat16']),
  tuning: tuningSchema,
  loss: lossSchema,
  /** `totalSteps` of the whole training run, for schedules that end. */
  optimizer: optimizerSchema.extend({ totalSteps: count }),
  scale: z.enum(['group', 'batch', 'none']),
  /** Bound on the absolute value of an advantage; null: none. */
  maxAdvantage: z.number().positive().nullable(),
  /** Rollouts of a full batch; a shorter one is padded. */
  rollouts: count,
  groupSize: z.int().min(2),
  microBatch: count,
  /** Processes that make an update together, each on its own GPU. */
  processes: count,
  /** Copies of the model, and the processes that share each; absent: all share one. */
  parallelism: z.strictObject({ dpReplicateSize: count, dpShardSize: count }).optional(),
  offload: z.boolean(),
  /** Passes over the batch. */
  iterations: count,
  /** Optimizer steps per pass, each on its own part of the batch. */
  minibatches: count,
  temperature: z.number().positive(),
  maxPromptTokens: count,
  maxCompletionTokens: count,
  /** Prompts let the model think before its reply, and its thoughts are not learned; absent: it is told not to. */
  thinking: z.literal('masked').optional(),
});
export type TrainerConfig = z.infer<typeof trainerConfigSchema>;

/** `logprobs[i]` is the log-probability of `tokenIds[i + 1]` at temperature 1, given all before. */
export const probeSchema = z.strictObject({
  tokenIds: z.array(z.int().nonnegative()).min(2).max(names.MOST.probeTokens),
  logprobs: z.array(z.number()).max(names.MOST.probeTokens),
});

/** Policy servers, each by its base URL. */
const servers = z.array(z.url()).max(names.MOST.servers);

/** Servers on the step's GPU, which sleep during it. */
const asleep = servers.optional();

/** Servers that cannot be used now, and why; absent in histories of earlier versions. */
const leftOut = z
  .array(z.strictObject({ server: z.string(), why: z.string() }))
  .max(names.MOST.servers)
  .optional();
export type LeftOut = z.infer<typeof leftOut>;

export const checkpointSchema = z.strictObject({
  trainRun,
  /** `base`, `warm`, or the cycle that made it as six digits. */
  name,
  /** Folder that a policy server loads, relative to its folder of checkpoints. */
  folder: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}\/[a-z0-9][a-z0-9-]{0,62}\/(?:model|adapter)$/),
  /** `model`: a whole Hugging Face model; `adapter`: a LoRA adapter of the base. */
  kind: z.enum(['model', 'adapter']),
  /** Digest over the names, types and bytes of all tensors, in ascending order of names. */
  weightsSha256: sha256,
  tokenizerSha256: sha256,
  /** Number of the model's token ids, which start at 0. */
  vocabulary: count,
  /** Fixed text, which a server of these weights must find as likely; older checkpoints are described without it. */
  probe: probeSchema.optional(),
});
export type Checkpoint = z.infer<typeof checkpointSchema>;

/** Token by which a reply's thoughts end, and what it is in the reply's text. */
const thoughtsSchema = z.strictObject({ end: z.int().nonnegative(), text: z.string().min(1).max(256) });
export type ThoughtsEnd = z.infer<typeof thoughtsSchema>;

/** Facts about a model that prompts need beside its chat template, which a policy server has. */
export const chatSchema = z.strictObject({
  /** Texts that its tokenizer reads as single control tokens, such as those that begin or end a turn. */
  markers: z.array(z.string().min(2).max(256)).max(4096).readonly(),
  /** Tokens that end a reply, by its generation configuration; the first is the one that its template writes. */
  ends: z.array(z.int().nonnegative()).max(256).readonly(),
  /** Whether its template has a system turn. */
  system: z.boolean(),
  /** null: it has no thoughts that can be told from its replies; absent: an earlier version made the checkpoint. */
  thoughts: thoughtsSchema.nullish(),
});
export type Chat = z.infer<typeof chatSchema>;

export const updateMetricsSchema = z.strictObject({
  loss: z.number(),
  gradNorm: z.number(),
  learningRate: z.number(),
  /** Mean of p_train / p_sampled over the tokens, in the first pass. */
  ratio: z.number(),
  /** Mean |log p_train − log p_sampled| of a token, in the first pass. */
  samplerGap: z.number(),
  /** Mean importance weight of a token, and the share of tokens whose weight exceeded its limit, in the first pass. */
  weight: z.number(),
  weightLimited: z.number(),
  /** Mean |log p_train − log p_train before the update| of a token, over all passes: 0 with a single step. */
  policyGap: z.number(),
  /** Share of tokens whose p_train / p_train before the update was clipped, over all passes. */
  clipShare: z.number(),
  /** Mean over tokens of the k3 estimate between the sampling and the trained policy, in nats, over all passes. */
  kl: z.number(),
  entropy: z.number(),
  /** Largest |log p_train − log p_sampled| in the first pass: small if the sampler had the same weights. */
  logprobGap: z.number(),
  /** Largest |advantage| of a reply. */
  largestAdvantage: z.number(),
  tokens: z.int(),
  seconds: z.number(),
});
export type UpdateMetrics = z.infer<typeof updateMetricsSchema>;

const checkpointResult = z.strictObject({
  checkpoint: checkpointSchema,
  /** True if it existed already, made from the same input. */
  replayed: z.boolean(),
});

/** First line of a batch, gzipped JSON lines; one line per rollout follows, in ascending order of `rolloutId`. */
export const batchHeaderSchema = z.strictObject({
  schema: z.literal(1),
  trainRun,
  cycle: count,
  policy: name,
  rollouts: count,
  temperature: z.number().positive(),
  tokenizerSha256: sha256,
});
export const batchRowSchema = z.strictObject({
  rolloutId: z.string(),
  groupId: z.string(),
  round: z.int().nonnegative(),
  /** Checkpoint that wrote it, `<training run>/<name>`: the header's `policy`, or its parent. */
  policy: z.string(),
  promptTokenIds: z.array(z.int().nonnegative()).min(1),
  completionTokenIds: z.array(z.int().nonnegative()).min(1),
  /** Log-probability of each completion token under the policy that wrote it. */
  sampledLogprobs: z.array(z.number().max(0)),
  /** null: excluded from the baseline, with advantage 0. */
  reward: z.number().nullable(),
  /** Its reward but for cost and length, whose spread scales the advantages; absent: the reward itself. */
  outcome: z.number().nullable().optional(),
  finishReason: z.enum(['stop', 'length']),
  /** Number of its first completion tokens that are thoughts: they are read, and not learned. Absent: none are. */
  thoughtTokens: z.int().nonnegative().optional(),
});

export const trainerMessages = {
  initRequest: z.strictObject({ trainRun, base: baseSchema, config: trainerConfigSchema, asleep }),
  warmStartRequest: z.strictObject({
    trainRun,
    parent,
    name,
    /** JSON lines of `{ messages, completion }`, or of `{ prompt, completion }` with all markers written out. */
    examples: stored,
    steps: count,
    batch: count,
    learningRate: z.number().positive(),
    warmupSteps: z.int().nonnegative(),
    /** With `all`, the run's adapters adapt the model that was made here. */
    weights: warmedWeights,
    config: trainerConfigSchema,
    asleep,
  }),
  /** Asks whether a night can be trained from a checkpoint: by its machine's memory and disks, and policy servers. */
  preflightRequest: z.strictObject({
    checkpoint: parent,
    config: trainerConfigSchema,
    /** Cycles that the night has left: the checkpoints that it will keep. */
    cycles: z.int().nonnegative().optional(),
    /** Those that plans are sampled from, which must serve the checkpoint as the trainer computes it. */
    servers: servers.optional(),
    /** JSON lines, each with the messages of a prompt that these servers must write as the trainer does. */
    prompts: stored.optional(),
    tolerance: z.number().positive().optional(),
    asleep,
  }),
  updateRequest: z.strictObject({
    trainRun,
    cycle: count,
    parent,
    batch: stored,
    config: trainerConfigSchema,
    asleep,
  }),
  /** Compares the log-probabilities of served replies with those of a checkpoint. */
  scoreRequest: z.strictObject({
    checkpoint: parent,
    cycle: count,
    batch: stored,
    rollouts: count,
    temperature: z.number().positive(),
    config: trainerConfigSchema,
    asleep,
  }),
  publishRequest: z.strictObject({
    checkpoint: parent,
    servers: servers.min(1),
    tolerance: z.number().positive(),
  }),
  retireRequest: z.strictObject({ trainRun, keep: z.array(name), servers }),
  collectRequest: z.strictObject({ trainRun, keep: z.array(name) }),
  /** `directory` on the trainer's machine must be empty, or not exist yet. */
  exportRequest: z.strictObject({ checkpoint: parent, directory: z.string() }),
  checkpointResult,
  warmStartResult: checkpointResult.extend({ loss: z.number(), seconds: z.number() }),
  preflightResult: z.strictObject({ leftOut }),
  updateResult: checkpointResult.extend({ metrics: updateMetricsSchema }),
  scoreResult: z.strictObject({
    /** Mean |log p_checkpoint − log p_served| of a token, for each group of the batch, in ascending order of ids. */
    own: z.array(z.number().nonnegative()),
    /** Gaps to its parent checkpoint; null if there is none. */
    parent: z.array(z.number().nonnegative()).nullable(),
  }),
  publishResult: z.strictObject({
    model: z.string(),
    /** Largest log-probability difference on the probe, over all servers that hold it. */
    logprobGap: z.number(),
    /** Absent for a checkpoint of an earlier version. */
    chat: chatSchema.optional(),
    leftOut,
  }),
  retireResult: z.strictObject({ retired: z.array(z.string()) }),
  collectResult: z.strictObject({ removed: z.array(name), bytes: z.int() }),
  exportResult: z.strictObject({ directory: z.string(), files: z.array(z.string()) }),
  batchHeader: batchHeaderSchema,
  batchRow: batchRowSchema,
} as const;

export const TRAINER_ACTIVITIES = {
  [names.INIT]: { request: 'initRequest', result: 'checkpointResult' },
  [names.WARM_START]: { request: 'warmStartRequest', result: 'warmStartResult' },
  [names.PREFLIGHT]: { request: 'preflightRequest', result: 'preflightResult' },
  [names.UPDATE]: { request: 'updateRequest', result: 'updateResult' },
  [names.SCORE]: { request: 'scoreRequest', result: 'scoreResult' },
  [names.PUBLISH]: { request: 'publishRequest', result: 'publishResult' },
  [names.RETIRE]: { request: 'retireRequest', result: 'retireResult' },
  [names.COLLECT]: { request: 'collectRequest', result: 'collectResult' },
  [names.EXPORT]: { request: 'exportRequest', result: 'exportResult' },
} as const;

type Messages = typeof trainerMessages;
export type TrainerMessage<Name extends keyof Messages> = z.infer<Messages[Name]>;
export type InitRequest = TrainerMessage<'initRequest'>;
export type WarmStartRequest = TrainerMessage<'warmStartRequest'>;
export type PreflightRequest = TrainerMessage<'preflightRequest'>;
export type UpdateRequest = TrainerMessage<'updateRequest'>;
export type ExportResult = TrainerMessage<'exportResult'>;
export type BatchHeader = TrainerMessage<'batchHeader'>;
export type BatchRow = TrainerMessage<'batchRow'>;

type Activities = typeof TRAINER_ACTIVITIES;
export type TrainerActivities = {
  -readonly [Type in keyof Activities]: (
    request: TrainerMessage<Activities[Type]['request']>,
  ) => Promise<TrainerMessage<Activities[Type]['result']>>;
};
