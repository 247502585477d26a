import { z } from 'zod';
import { attemptSchema, verdictSchema } from '../evaluation/results';
import { updateMetricsSchema } from './trainer-contract';

const checkpoint = z.object({ trainRun: z.string(), name: z.string() });
const questions = z.object({ set: z.string(), count: z.int().positive() });

/** How far a training run has come, all its nights together. One object in the store, replaced as a whole. */
export const runRecordSchema = z.object({
  schema: z.literal(1),
  trainRun: z.string(),
  /** The last cycle that is over; 0 before the first. */
  done: z.int().nonnegative(),
  /** Checkpoint that the next night continues from; null before the first cycle is over. */
  checkpoint: checkpoint.nullable(),
  /** Checkpoint that samples the next cycle's plans, after an interrupted night that samples ahead. */
  writer: checkpoint.nullable().optional(),
});
export type RunRecord = z.infer<typeof runRecordSchema>;

/** Result of one night. One object in the store, replaced as a whole. */
export const nightRecordSchema = z.object({
  schema: z.literal(1),
  trainRun: z.string(),
  date: z.string(),
  /** The cycles that it claimed. */
  first: z.int().positive(),
  last: z.int().positive(),
  /** The last one that is over; `first - 1` where none is. */
  done: z.int().nonnegative(),
  /** Its latest checkpoint; null while the trainer has yet to make the first one. */
  checkpoint: checkpoint.nullable(),
  /** The checkpoint that it began with. */
  begun: checkpoint.nullable(),
  /** `topics`: how many there are of each topic, which lie together. */
  train: questions.extend({ topics: z.array(z.int().positive()).readonly() }),
  heldOut: questions,
  openedAt: z.string(),
  closedAt: z.string().nullable(),
  /** Decision of the gate, in a sentence; null if it was not asked. */
  decision: z.string().nullable(),
});
export type NightRecord = z.infer<typeof nightRecordSchema>;

const rolloutSchema = attemptSchema.extend({
  /** Its place in the group, and in the group's samples, from 0. */
  index: z.int().nonnegative(),
  /** In a second round: the rollout of the first that it reviews; else its own index. */
  root: z.int().nonnegative(),
  /** Length of the reply, its end marker included. */
  tokens: z.number(),
  /** null: outside its group's baseline, with advantage 0. */
  reward: z.number().nullable(),
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

/** A group as it is read back from the store. Fields that a later version adds are left out. */
export const groupRecordSchema = groupIdSchema.extend({
  round: z.int().nonnegative(),
  /** Topic of the question; absent if it names none. */
  topic: z.string().optional(),
  /** Ids in the order of the prompt. */
  workers: z.array(z.string()).readonly(),
  /** Writer of the plans: `<training run>/<name>`, or `the prompted Conductor`. */
  checkpoint: z.string(),
  /** Store key of the prompts, token ids and log-probabilities; null for the prompted Conductor. */
  samples: z.string().nullable(),
  rollouts: z.array(rolloutSchema).readonly(),
});

export type Rollout = Readonly<z.infer<typeof rolloutSchema>>;
/** Plan as the policy wrote it. */
export type SampledPlan = Pick<Rollout, 'plan' | 'problem' | 'tokens'>;
/** The rollouts of one question in one cycle. */
export type GroupId = Readonly<z.infer<typeof groupIdSchema>>;
export type GroupPurpose = GroupId['purpose'];
export type GroupRecord = Readonly<z.infer<typeof groupRecordSchema>>;

/** Names one rollout, whatever process or attempt makes it: an interrupted run names its calls as an undisturbed one. */
export type RolloutId = GroupId & { readonly rollout: number };

/**
 * Milliseconds for which each part of a cycle was under way, in one group or in many. Groups overlap, so the parts add up
 * to more than the whole. It is the workflow's own clock: a part's way through Temporal's queues counts as its own.
 */
const cycleTimesSchema = z.object({
  sampling: z.number(),
  rollouts: z.number(),
  grading: z.number(),
  update: z.number(),
  publish: z.number(),
  /** None of these: groups were started and summed up, the batch written, held-out questions tried. */
  between: z.number(),
  /** From the first draw to the figures. */
  whole: z.number(),
});
export type CycleTimes = z.infer<typeof cycleTimesSchema>;

/** Metrics of a topic's plans. A shape is how many steps there are, and who sees whom. */
const topicMetricsSchema = z.object({
  plans: z.number(),
  /** Counts of these plans by shape: for each step the ones that it sees, as JSON. */
  shapes: z.record(z.string(), z.number()),
  /** Answers that a grader could judge, and of these the right ones. */
  graded: z.number(),
  right: z.number(),
});
export type TopicMetrics = z.infer<typeof topicMetricsSchema>;

const shares = z.record(z.string(), z.number());

/** The figures of one cycle as they are read back from the store. Fields that a later version adds are left out. */
export const cycleMetricsSchema = z.object({
  schema: z.literal(1),
  trainRun: z.string(),
  cycle: z.int().positive(),
  night: z.string(),
  /** Checkpoint that it made, or where it learned nothing, began with: `<training run>/<name>`. */
  checkpoint: z.string(),
  weightsSha256: z.string().nullable(),
  at: z.string(),
  rewardMean: z.number(),
  /** Standard deviation over all rewards of the cycle. */
  rewardSpread: z.number(),
  /** Share of replies that were plans. */
  formatRate: z.number(),
  verdicts: z.record(verdictSchema, z.number()),
  /** Groups that were drawn, and of these the ones without spread. */
  draws: z.number(),
  dropped: z.number(),
  planLength: z.number(),
  /** Share of all steps, by worker. */
  workerShares: shares,
  /** Share of all plans, by what `topologyOf` calls their graph (paper figure 3). */
  topologyShares: shares,
  /** First plans of each topic, by its name; `''`: of questions that name none. */
  topics: z.record(z.string(), topicMetricsSchema),
  /** Why the policy seems to have stopped to try things before it was good at them; null where it does not. */
  collapse: z.string().nullable(),
  /** Share of all rollouts that failed, by what `failureOf` says of them. */
  failureShares: shares,
  /** Tokens of workers for each rollout, and of the plans themselves. */
  workerTokens: z.number(),
  planTokens: z.number(),
  /** Mean for each rollout; null where a price is unknown. */
  usd: z.number().nullable(),
  /** Absent (null) if no group had a spread. */
  update: z.object(updateMetricsSchema.shape).nullable(),
  times: cycleTimesSchema,
  /** Mean reward on the held-out questions, in the cycles where they were tried. */
  heldOut: z.number().nullable(),
});
export type CycleMetrics = z.infer<typeof cycleMetricsSchema>;
