import { z } from 'zod';
import { verdictSchema } from '../evaluation/results';
import { updateMetricsSchema } from './trainer-contract';

export type GroupPart = 'sampling' | 'rollouts' | 'grading';

/** When a part of some work was under way, in epoch milliseconds. */
export interface Span<Part extends string = string> {
  readonly part: Part;
  readonly from: number;
  readonly to: number;
}

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
  /** Mean number of steps. */
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
  /** Null if no group had a spread, and nothing was learned. */
  update: z.object(updateMetricsSchema.shape).nullable(),
  times: cycleTimesSchema,
  /** Mean reward on the held-out questions, in the cycles where they were tried. */
  heldOut: z.number().nullable(),
});
export type CycleMetrics = z.infer<typeof cycleMetricsSchema>;

/** How far a night has come, as `train status` shows it. */
export interface NightProgress {
  readonly trainRun: string;
  readonly night: string;
  readonly status: 'running' | 'paused' | 'stopping' | 'gate' | 'done';
  readonly cycles: { readonly first: number; readonly last: number };
  /** The last one that is over; `first - 1` before that. */
  readonly done: number;
  readonly phase: string;
  readonly spentNanoUsd: number;
  readonly startedAt: string;
  /** Rewards of the cycles so far, oldest first. */
  readonly rewards: readonly number[];
  readonly best: { readonly checkpoint: string; readonly heldOut: number } | null;
  /** Last problem that did the night no harm, in one sentence. */
  readonly warning: string | null;
}
