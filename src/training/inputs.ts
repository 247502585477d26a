import { z } from 'zod';
import { ACCESS_MODES, DESCRIBE_MODES, MAX_EXAMPLES } from '../plan/plan';
import { readQuestionSetKey } from '../evaluation/definitions';
import { planExampleSchema, modelSchema, runSchema, workerSchema } from '../protocol/cards';
import { MAX_STEPS, MAX_WALL_CLOCK_MS } from '../protocol/messages';
import { A_TRACEPARENT, TRACEPARENT } from '../protocol/rules';
import { trainerMessages, trainRunSchema } from './trainer-contract';
import { isTimeZone, MAX_CYCLE, MOST, readCheckpointId } from './names';
import { groupIdSchema } from './records';

// Inputs of workflows, checked by the first activity of each: any client may have written one, and a workflow that
// trips over its input fails its tasks again and again. The sandbox imports only the types.

const MAX_WORKERS = 256;

const milliseconds = z.int().min(1).max(MAX_WALL_CLOCK_MS);
const count = z.int().min(1);
const checkpoint = z.object({ trainRun: trainRunSchema, name: trainRunSchema });
const taskQueue = z.string().min(1).max(1_000);

const nightDateSchema = z.iso.date({ error: 'expected a calendar date such as 2026-11-21' });

/** Input of `conductorTrain`; everything else is read from the worker's configuration. */
export const trainInputSchema = z.object({
  carried: z.unknown().optional(),
  /** Default, here and below: as configured. */
  trainRun: trainRunSchema.optional(),
  /** Local calendar date. Default: that of the scheduled time, or else of the start. */
  date: nightDateSchema.optional(),
  /** Time zone of `date`, by its IANA name; default UTC. */
  timeZone: z
    .string()
    .refine(isTimeZone, { error: 'expected the name of a time zone, such as Europe/Berlin' })
    .optional(),
  cycles: count.max(MOST.cycles).optional(),
  from: z
    .string()
    .refine((id) => readCheckpointId(id) !== null, { error: 'expected a checkpoint such as nightly/000040' })
    .optional(),
  /** Version of the configuration that the night was requested with; it is not trained with any other. */
  config: z.record(z.string(), z.string().min(1).max(16)).optional(),
});
export type NightInput = Readonly<Omit<z.infer<typeof trainInputSchema>, 'carried'>>;

export const nightlyInputSchema = trainInputSchema.extend({ trainRun: trainRunSchema });
export type NightlyInput = Readonly<z.infer<typeof nightlyInputSchema>>;

/** How a policy is prompted, in training as wherever its checkpoints are asked. */
export const promptSettingsSchema = z.object({
  /** `compact`: question and team only, for a tiny policy that knows the rules by training. */
  prompt: z.enum(['full', 'compact']),
  describe: z.enum(DESCRIBE_MODES),
  access: z.enum(ACCESS_MODES),
  /** false: every worker gets the same subtask, whatever the policy writes. */
  subtasks: z.boolean(),
  /** Examples that its prompts show, in full. */
  examples: z.array(planExampleSchema).max(MAX_EXAMPLES).readonly(),
  maxPromptTokens: count,
  maxOutputTokens: count,
  /** Its replies begin with thoughts, which are not learned; absent: its prompts tell it not to think. */
  thinking: z.literal('masked').optional(),
});

const serverUrl = z.string().min(1).max(2_048);

const policySettingsSchema = promptSettingsSchema.extend({
  baseUrl: z.union([serverUrl, z.array(serverUrl).min(1).max(MOST.servers).readonly()]),
  /** Has these servers free their GPU memory while the trainer computes; absent in inputs of earlier versions. */
  sleepDuringUpdate: z.boolean().optional(),
  temperature: z.number().min(0).max(2),
  servingTemperature: z.number().min(0).max(2),
  timeoutMs: milliseconds,
  patienceMs: milliseconds,
});
export type PolicySettings = Readonly<z.infer<typeof policySettingsSchema>>;

const rewardSettingsSchema = z.object({
  unparseable: z.number(),
  parseable: z.number(),
  correct: z.number(),
  costWeight: z.number(),
  lengthWeight: z.number(),
});
export type RewardSettings = Readonly<z.infer<typeof rewardSettingsSchema>>;

export const groupInputSchema = groupIdSchema.omit({ question: true }).extend({
  trainRun: trainRunSchema,
  cycle: z.int().min(0).max(MAX_CYCLE),
  seed: z.int().min(0),
  question: z.object({
    set: z.string().refine((key) => readQuestionSetKey(key) !== null, {
      error: 'expected the key of a kept set of questions, questions/SHA-256.jsonl',
    }),
    index: z.int().min(0),
  }),
  writer: z.union([z.literal('prompted'), checkpoint]),
  plans: count.max(MOST.plans),
  window: count,
  temperature: z.number().min(0).max(2),
  policy: policySettingsSchema,
  reward: rewardSettingsSchema,
  recursion: z.object({
    rounds: z.literal([1, 2]),
    rootDiscount: z.number().min(0).max(1),
    baseline: z.enum(['question', 'verdict']),
  }),
  workers: z.array(workerSchema).min(1).max(MAX_WORKERS).readonly(),
  verifier: modelSchema.optional(),
  /** Span of the cycle, which the group's own spans hang below. */
  traceparent: z.string().regex(TRACEPARENT, A_TRACEPARENT).optional(),
  /** Its limits apply to the whole group, except `steps`, which applies to one plan. */
  run: runSchema,
});
export type GroupInput = Readonly<z.infer<typeof groupInputSchema>>;

const publishSettingsSchema = z.object({
  policy: policySettingsSchema,
  trainer: z.object({ taskQueue }),
  budget: z.object({ wallClockMs: milliseconds }),
  tolerance: z.object({ probe: z.number() }),
  run: z.object({ heartbeatMs: milliseconds, limits: z.object({ steps: count.max(MAX_STEPS) }) }),
});
export type PublishSettings = z.infer<typeof publishSettingsSchema>;

/** The trainer may read only what was stored for it, so keys of anything else are refused. */
const initSchema = trainerMessages.initRequest.refine(
  ({ base }) => base.kind === 'folder' || /^tokenizer-texts\/[0-9a-f]{64}\.jsonl$/.test(base.texts.key),
  { path: ['base'], error: 'expected the key of kept texts, tokenizer-texts/SHA-256.jsonl' },
);
const examplesSchema = trainerMessages.warmStartRequest.refine(
  ({ examples }) => /^examples\/[0-9a-f]{64}\.jsonl$/.test(examples.key),
  { path: ['examples', 'key'], error: 'expected the key of kept examples, examples/SHA-256.jsonl' },
);

export const warmStartInputSchema = z.object({
  init: initSchema,
  warmStart: examplesSchema,
  settings: publishSettingsSchema,
});
export type WarmStartInput = Readonly<z.infer<typeof warmStartInputSchema>>;

export const exportInputSchema = z.object({
  checkpoint,
  directory: z.string().min(1).max(4_096),
  taskQueue,
  heartbeatMs: milliseconds,
  timeoutMs: milliseconds,
});
export type ExportInput = Readonly<z.infer<typeof exportInputSchema>>;
