import { z } from 'zod';
import { readQuestionSetKey } from '../evaluation/store-keys';
import { modelSchema, runSchema, workerSchema } from '../protocol/cards';
import { MAX_STEPS, MAX_WALL_CLOCK_MS } from '../protocol/messages';
import { trainRunSchema } from './field-schemas';
import { isNightDate, isTimeZone, readCheckpointId } from './ids';
import { MAX_CYCLE, MOST } from './names';
import { groupIdSchema } from './records';
import { trainerMessages } from './trainer-contract';

/*
 * What the workflows of training are asked. Any client may have written it, and what a workflow trips over fails its tasks
 * over and over: so the first activity of each holds its input against these schemas. The sandbox imports the types alone.
 */

const MAX_WORKERS = 256;

const milliseconds = z.int().min(1).max(MAX_WALL_CLOCK_MS);
const count = z.int().min(1);
const checkpoint = z.object({ trainRun: trainRunSchema, name: trainRunSchema });
/** Temporal refuses names that are longer. */
const taskQueue = z.string().min(1).max(1_000);

/** One night, as `conductorTrain` is asked for it. Everything else is read from the worker's configuration. */
export const trainInputSchema = z.object({
  /** Set by the workflow itself where it goes on in a new run. */
  carried: z.unknown().optional(),
  /** Default: the one that the configuration names. */
  trainRun: trainRunSchema.optional(),
  /** Local calendar date that the night counts as; default: of the time that it was scheduled for. */
  date: z.string().refine(isNightDate, { error: 'expected a calendar date such as 2026-11-21' }).optional(),
  /** Where that calendar holds; default UTC. */
  timeZone: z
    .string()
    .refine(isTimeZone, { error: 'expected the name of a time zone, such as Europe/Berlin' })
    .optional(),
  /** Default: as many as configured. */
  cycles: count.max(MOST.cycles).optional(),
  /** Checkpoint to go on from, `<training run>/<name>`; default: the run's last. */
  from: z
    .string()
    .refine((id) => readCheckpointId(id) !== null, { error: 'expected a checkpoint such as nightly/000040' })
    .optional(),
  /** The version of the configuration that it was asked for by: no other is trained by. */
  config: z.record(z.string(), z.string().min(1).max(16)).optional(),
});
/** What a client asks for. */
export type NightInput = Readonly<Omit<z.infer<typeof trainInputSchema>, 'carried'>>;

/** Input of a scheduled night: it must name its training run. */
export const nightlyInputSchema = trainInputSchema.extend({ trainRun: trainRunSchema });
export type NightlyInput = Readonly<z.infer<typeof nightlyInputSchema>>;

/** How plans are asked for while training; a checkpoint's manifest repeats what serving must know of it. */
const policySettingsSchema = z.object({
  baseUrl: z.string().min(1).max(2_048),
  prompt: z.enum(['full', 'compact']),
  describe: z.enum(['ordinals', 'names', 'notes']),
  temperature: z.number().min(0).max(2),
  servingTemperature: z.number().min(0).max(2),
  maxPromptTokens: count,
  maxOutputTokens: count,
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

/** Input of `conductorTrainGroup`. */
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
  /** Rollouts at once. */
  window: count,
  temperature: z.number().min(0).max(2),
  policy: policySettingsSchema,
  reward: rewardSettingsSchema,
  recursion: z.object({ rounds: z.literal([1, 2]), rootDiscount: z.number().min(0).max(1) }),
  /** In the order of the prompt. */
  workers: z.array(workerSchema).min(1).max(MAX_WORKERS).readonly(),
  /** Judges answers that rules do not take for right; absent where none is configured. */
  verifier: modelSchema.optional(),
  /** Its limits are those of the whole group; `steps` is of one plan. */
  run: runSchema,
});
export type GroupInput = Readonly<z.infer<typeof groupInputSchema>>;

/** Settings by which a night publishes a checkpoint. */
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
const lessonSchema = trainerMessages.warmStartRequest.refine(
  ({ examples }) => /^examples\/[0-9a-f]{64}\.jsonl$/.test(examples.key),
  { path: ['examples', 'key'], error: 'expected the key of kept examples, examples/SHA-256.jsonl' },
);

/** Input of `conductorWarmStart`: a base model, the examples, and how the checkpoint is asked. */
export const warmStartInputSchema = z.object({
  init: initSchema,
  warmStart: lessonSchema,
  settings: publishSettingsSchema,
});
export type WarmStartInput = Readonly<z.infer<typeof warmStartInputSchema>>;

/** Input of `conductorExportCheckpoint`. */
export const exportInputSchema = z.object({
  checkpoint,
  /** As the trainer's machine sees it. */
  directory: z.string().min(1).max(4_096),
  taskQueue,
  heartbeatMs: milliseconds,
  timeoutMs: milliseconds,
});
export type ExportInput = Readonly<z.infer<typeof exportInputSchema>>;
