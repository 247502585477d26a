import { z } from 'zod';
import { attemptSchema, verdictSchema } from '../evaluation/results';
import { updateMetricsSchema } from './trainer-contract';

const checkpoint = z.object({ trainRun: z.string(), name: z.string() });
const questions = z.object({ set: z.string(), count: z.int().positive() });

/** How far a training run has come, all its nights together. One object in the store, replaced as a whole. */
export const runRecordSchema = z.object({
  schema: z.literal(1),
  trainRun: z.string(),
  done: z.int().nonnegative(),
  /** Checkpoint that the next night continues from; null before the first cycle is over. */
  checkpoint: checkpoint.nullable(),
  /** Checkpoint that samples the next cycle's plans, after an interrupted night that samples ahead. */
  writer: checkpoint.nullable().optional(),
});
export type RunRecord = z.infer<typeof runRecordSchema>;

/** One night. One object in the store, replaced as a whole. */
export const nightRecordSchema = z.object({
  schema: z.literal(1),
  trainRun: z.string(),
  date: z.string(),
  first: z.int().positive(),
  last: z.int().positive(),
  done: z.int().nonnegative(),
  checkpoint: checkpoint.nullable(),
  begun: checkpoint.nullable(),
  /** `topics`: how many there are of each topic, which lie together. */
  train: questions.extend({ topics: z.array(z.int().positive()).readonly() }),
  heldOut: questions,
  openedAt: z.string(),
  closedAt: z.string().nullable(),
  decision: z.string().nullable(),
});
export type NightRecord = z.infer<typeof nightRecordSchema>;

const rolloutSchema = attemptSchema.extend({
  index: z.int().nonnegative(),
  /** In a second round: the rollout of the first that it reviews; else its own index. */
  root: z.int().nonnegative(),
  tokens: z.number(),
  /** null: outside its group's baseline, with advantage 0. */
  reward: z.number().nullable(),
  /** Rollouts of a group are compared with those of the same baseline; absent: with all of them. */
  baseline: z.string().optional(),
});

export const groupIdSchema = z.object({
  trainRun: z.string(),
  /** To learn from, to try a policy on held-out questions, to try once more what was promoted, or for examples to imitate. */
  purpose: z.enum(['training', 'evaluation', 'canary', 'examples']),
  /** Counts upwards over all nights of a training run, from 1; examples are of none, 0. */
  cycle: z.int().nonnegative(),
  question: z.string(),
  /** Which draw of the cycle it was, from 0; a question may be drawn more than once. For examples: a digest of the question and the settings. */
  draw: z.int().nonnegative(),
});

/** The rollouts of one question in one cycle. Fields that a later version adds are left out. */
export const groupRecordSchema = groupIdSchema.extend({
  round: z.int().nonnegative(),
  topic: z.string().optional(),
  workers: z.array(z.string()).readonly(),
  checkpoint: z.string(),
  /** Store key of the prompts, token ids and log-probabilities; null for the prompted Conductor. */
  samples: z.string().nullable(),
  rollouts: z.array(rolloutSchema).readonly(),
});

export type Rollout = Readonly<z.infer<typeof rolloutSchema>>;
export type SampledPlan = Pick<Rollout, 'plan' | 'problem' | 'tokens'>;
export type GroupId = Readonly<z.infer<typeof groupIdSchema>>;
export type GroupRecord = Readonly<z.infer<typeof groupRecordSchema>>;

/** What a policy reads, markers included, and what it is to write, without the marker at its end. */
export const exampleSchema = z.strictObject({ prompt: z.string().min(1), completion: z.string().min(1) });
export type Example = z.infer<typeof exampleSchema>;

/** The different right plans that the policy wrote for one question of a cycle, as the model reads and writes them. */
export const rightPlansSchema = z.array(
  z.object({ topic: z.string(), prompt: z.string(), completions: z.array(z.string()).readonly() }),
);
export type RightPlans = Readonly<z.infer<typeof rightPlansSchema>[number]>;

/** Milliseconds for which each part of a cycle was under way; groups overlap, so they add up to more than the whole. */
const cycleTimesSchema = z.object({
  sampling: z.number(),
  rollouts: z.number(),
  grading: z.number(),
  update: z.number(),
  publish: z.number(),
  /** None of these: groups were started and summed up, the batch written, held-out questions tried. */
  between: z.number(),
  whole: z.number(),
});
export type CycleTimes = z.infer<typeof cycleTimesSchema>;

/** Metrics of a topic's plans. A shape is how many steps there are, and who sees whom. */
const topicMetricsSchema = z.object({
  plans: z.number(),
  /** Counts of these plans by shape: for each step the ones that it sees, as JSON. */
  shapes: z.record(z.string(), z.number()),
  graded: z.number(),
  right: z.number(),
});
export type TopicMetrics = z.infer<typeof topicMetricsSchema>;

const shares = z.record(z.string(), z.number());

const cycleFiguresSchema = z.object({
  rewardMean: z.number(),
  rewardSpread: z.number(),
  formatRate: z.number(),
  verdicts: z.record(verdictSchema, z.number()),
  draws: z.number(),
  planLength: z.number(),
  /** Entropy, in nats, of the first plans of a question, by workers and what they see; mean over the questions. */
  planEntropy: z.number(),
  workerShares: shares,
  topologyShares: shares,
  /** First plans of each topic, by its name; `''`: of questions that name none. */
  topics: z.record(z.string(), topicMetricsSchema),
  failureShares: shares,
  workerTokens: z.number(),
  planTokens: z.number(),
  usd: z.number().nullable(),
});
export type CycleFigures = z.infer<typeof cycleFiguresSchema>;

export const cycleMetricsSchema = cycleFiguresSchema.extend({
  schema: z.literal(1),
  trainRun: z.string(),
  cycle: z.int().positive(),
  night: z.string(),
  /** Checkpoint that it made, or where it learned nothing, began with: `<training run>/<name>`. */
  checkpoint: z.string(),
  weightsSha256: z.string().nullable(),
  at: z.string(),
  dropped: z.number(),
  /** Why the policy seems to have stopped to try things before it was good at them; null where it does not. */
  collapse: z.string().nullable(),
  /** Figures of the GRPO update; null if the cycle made none. */
  update: z.object(updateMetricsSchema.shape).nullable(),
  /** Figures of the supervised steps; null if the cycle did not imitate. */
  imitation: z.object({ loss: z.number(), seconds: z.number() }).nullable(),
  times: cycleTimesSchema,
  heldOut: z.number().nullable(),
});
export type CycleMetrics = z.infer<typeof cycleMetricsSchema>;

/** Why a night's candidate serves, or does not. */
export const gateRecordSchema = z.object({
  schema: z.literal(1),
  trainRun: z.string(),
  night: z.string(),
  candidate: z.string(),
  baseline: z.string(),
  heldOut: z.string(),
  maxCostRatio: z.number().nullable(),
  margin: z.number(),
  promoted: z.boolean(),
  isLoss: z.boolean(),
  judgement: z.int().positive(),
  pairs: z.int().nonnegative(),
  gain: z.number().nullable(),
  lowerBound: z.number().nullable(),
  smallestGain: z.number().nullable(),
  costRatio: z.number().nullable(),
  sentence: z.string(),
  at: z.string(),
});
export type GateRecord = Readonly<z.infer<typeof gateRecordSchema>>;

/** What became of a promotion when it was tried once more as it serves. */
export const canaryRecordSchema = z.object({ rolledBack: z.boolean(), sentence: z.string(), at: z.string() });
