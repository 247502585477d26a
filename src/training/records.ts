import { z } from 'zod';
import { attemptSchema, verdictSchema } from '../evaluation/definitions';
import { updateMetricsSchema } from './trainer-contract';

const checkpoint = z.object({ trainRun: z.string(), name: z.string() });
const questions = z.object({ set: z.string(), count: z.int().positive() });

/** Progress of a training run over all its nights. One object in the store, replaced as a whole. */
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

/** Record of one night. One object in the store, replaced as a whole. */
export const nightRecordSchema = z.object({
  schema: z.literal(1),
  trainRun: z.string(),
  date: z.string(),
  first: z.int().positive(),
  last: z.int().positive(),
  done: z.int().nonnegative(),
  checkpoint: checkpoint.nullable(),
  begun: checkpoint.nullable(),
  /** `topics`: number of questions of each topic; those of one topic lie together. */
  train: questions.extend({ topics: z.array(z.int().positive()).readonly() }),
  heldOut: questions,
  openedAt: z.string(),
  closedAt: z.string().nullable(),
  decision: z.string().nullable(),
});
export type NightRecord = z.infer<typeof nightRecordSchema>;

const rolloutSchema = attemptSchema.extend({
  index: z.int().nonnegative(),
  /** In a second round: index of the first-round rollout that it reviews; else its own index. */
  root: z.int().nonnegative(),
  tokens: z.number(),
  /** null: excluded from its group's baseline, with advantage 0. */
  reward: z.number().nullable(),
  /** Its reward but for cost and length; absent if they do not count. */
  outcome: z.number().nullable().optional(),
  /** Rollouts of a group are compared with those of the same baseline; absent: with all of them. */
  baseline: z.string().optional(),
});

export const groupIdSchema = z.object({
  trainRun: z.string(),
  /** Training, a trial on held-out questions, a check after a promotion, or examples to imitate. */
  purpose: z.enum(['training', 'evaluation', 'canary', 'examples']),
  /** Counts up over all nights of a training run, from 1; 0 for examples. */
  cycle: z.int().nonnegative(),
  question: z.string(),
  /** Number of the draw in its cycle, from 0; questions may repeat. For examples: digest of question and settings. */
  draw: z.int().nonnegative(),
});

/** Rollouts of one question in one cycle. Fields that a later version adds are left out. */
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

const turnSchema = z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() });
export type TrainingTurn = Readonly<z.infer<typeof turnSchema>>;

const turns = z.array(turnSchema).min(1).max(1_000).readonly();
const prompt = z.string().min(1);
const completion = z.string().min(1);

/** Prompt and the reply to it. A `prompt` is as the policy reads it, with all markers written out. */
export const trainingExampleSchema = z.union(
  [z.strictObject({ messages: turns, completion }), z.strictObject({ prompt, completion })],
  { error: 'expected { "messages", "completion" } or { "prompt", "completion" }' },
);
export type TrainingExample = z.infer<typeof trainingExampleSchema>;

/** Distinct right plans that the policy wrote for one question of a cycle. */
const plansOfQuestion = z.object({ topic: z.string(), completions: z.array(z.string()).readonly() });
/** Earlier versions kept a `prompt`. */
export const rightPlansSchema = z.array(
  z.union([plansOfQuestion.extend({ messages: turns }), plansOfQuestion.extend({ prompt })]),
);
export type RightPlans = Readonly<z.infer<typeof rightPlansSchema>[number]>;

/** Milliseconds for which each part of a cycle was under way; groups overlap, so the sum may exceed the whole. */
const cycleTimesSchema = z.object({
  sampling: z.number(),
  rollouts: z.number(),
  grading: z.number(),
  update: z.number(),
  publish: z.number(),
  /** Time in none of these: starting and summing up groups, writing the batch, trying held-out questions. */
  between: z.number(),
  whole: z.number(),
});
export type CycleTimes = z.infer<typeof cycleTimesSchema>;

/** Metrics of a topic's plans. A shape is the number of steps, and what each of them sees. */
const topicMetricsSchema = z.object({
  plans: z.number(),
  /** Counts of these plans by shape: for each step the steps that it sees, as JSON. */
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
  /** Mean over questions of the entropy, in nats, of their first plans, by workers and what these see. */
  planEntropy: z.number(),
  workerShares: shares,
  topologyShares: shares,
  /** First plans by topic; `''`: questions without a topic. */
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
  /** Checkpoint that the cycle made, or began with if it learned nothing: `<training run>/<name>`. */
  checkpoint: z.string(),
  weightsSha256: z.string().nullable(),
  at: z.string(),
  dropped: z.number(),
  /** Why the policy seems to have stopped exploring before it was good; null if it has not. */
  collapse: z.string().nullable(),
  /** Figures of the GRPO update; null if the cycle made none. */
  update: z.object(updateMetricsSchema.shape).nullable(),
  /** Figures of the supervised steps; null if the cycle did not imitate. */
  imitation: z.object({ loss: z.number(), seconds: z.number() }).nullable(),
  times: cycleTimesSchema,
  heldOut: z.number().nullable(),
});
export type CycleMetrics = z.infer<typeof cycleMetricsSchema>;

const gateDecisionSchema = z.object({
  promoted: z.boolean(),
  isLoss: z.boolean(),
  /**
   * How many gate decisions used this held-out set, this one included, plus trials by which `continueFrom: best` chose;
   * each later one needs stronger evidence.
   */
  judgement: z.int().positive(),
  pairs: z.int().nonnegative(),
  gain: z.number().nullable(),
  lowerBound: z.number().nullable(),
  /** Smallest gain that would have been detected four times out of five; null with too few pairs. */
  smallestGain: z.number().nullable(),
  /** Mean cost of the candidate's rollouts relative to the baseline's; null if a price is unknown. */
  costRatio: z.number().nullable(),
  sentence: z.string(),
});
export type GateDecision = Readonly<z.infer<typeof gateDecisionSchema>>;

/** Reasons why a night's candidate serves or does not. */
export const gateRecordSchema = z.object({
  schema: z.literal(1),
  trainRun: z.string(),
  night: z.string(),
  candidate: z.string(),
  baseline: z.string(),
  heldOut: z.string(),
  maxCostRatio: z.number().nullable(),
  margin: z.number(),
  ...gateDecisionSchema.shape,
  at: z.string(),
});
export type GateRecord = Readonly<z.infer<typeof gateRecordSchema>>;

/** Outcome of the check after a promotion, with the checkpoint as it serves. */
export const canaryRecordSchema = z.object({ rolledBack: z.boolean(), sentence: z.string(), at: z.string() });
export type CanaryDecision = Readonly<Omit<z.infer<typeof canaryRecordSchema>, 'at'>>;

const pointerSchema = z.strictObject({ trainRun: z.string(), name: z.string() });

/** Record of the serving checkpoint: one object in the store, replaced as a whole. */
export const servingSchema = z.strictObject({
  schema: z.literal(1),
  serving: pointerSchema.nullable(),
  before: z.array(pointerSchema.nullable()),
  pinned: z.boolean(),
  reason: z.string(),
  at: z.string(),
});
export type Serving = z.infer<typeof servingSchema>;
