import { z } from 'zod';
import { type UpdateMetrics, updateMetricsSchema } from './trainer-contract';
import type { Verdict } from '../grading/grade';

/**
 * Wall-clock time of the parts of one cycle, in milliseconds: how long each was under way, be it in one group or in many.
 * Groups overlap, so the parts add up to more than the whole.
 *
 * It is the workflow's own clock, which stands still within a workflow task: a part begins with the task that asks for it
 * and ends with the one that hears of its end, so that its way through Temporal's queues counts as its own.
 */
export interface CycleTimes {
  readonly sampling: number;
  readonly rollouts: number;
  readonly grading: number;
  readonly update: number;
  readonly publish: number;
  /** None of these was under way: groups were started and summed up, the batch was written, held-out questions were tried. */
  readonly between: number;
  /** From the first draw to the figures. */
  readonly whole: number;
}

/** The parts of a group's work. */
export type GroupPart = 'sampling' | 'rollouts' | 'grading';

/** When a part of some work was under way, in epoch milliseconds. */
export interface Span<Part extends string = string> {
  readonly part: Part;
  readonly from: number;
  readonly to: number;
}

/** What one cycle came to: a line of the metrics file. */
export interface CycleMetrics {
  readonly schema: 1;
  readonly trainRun: string;
  readonly cycle: number;
  readonly night: string;
  /** Checkpoint that it made, or where it learned nothing, began with: `<training run>/<name>`. */
  readonly checkpoint: string;
  readonly weightsSha256: string | null;
  readonly at: string;
  readonly rewardMean: number;
  /** Standard deviation over all rewards of the cycle. */
  readonly rewardSpread: number;
  /** Share of replies that were plans. */
  readonly formatRate: number;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** Groups that were drawn, and of these the ones without spread. */
  readonly draws: number;
  readonly dropped: number;
  /** Mean steps of a plan. */
  readonly planLength: number;
  /** Share of all steps, by worker. */
  readonly workerShares: Readonly<Record<string, number>>;
  /** Share of all plans, by shape (paper figure 3): `single`, `chain`, `parallel`, `tree`, `other`. */
  readonly topologyShares: Readonly<Record<string, number>>;
  /** Tokens of workers for each rollout, and of the plans themselves. */
  readonly workerTokens: number;
  readonly planTokens: number;
  /** Mean for each rollout; null where a price is unknown. */
  readonly usd: number | null;
  /** null where no group had a spread, and nothing was learned. */
  readonly update: UpdateMetrics | null;
  readonly times: CycleTimes;
  /** Mean reward on the held-out questions, in the cycles where they were tried. */
  readonly heldOut: number | null;
}

/** How far a night has come, as `train status` shows it. */
export interface NightProgress {
  readonly trainRun: string;
  readonly night: string;
  readonly status: 'running' | 'paused' | 'stopping' | 'gate' | 'done';
  /** First and last cycle that the night has claimed. */
  readonly cycles: { readonly first: number; readonly last: number };
  /** The last one that is over; `first - 1` before that. */
  readonly done: number;
  readonly phase: string;
  readonly spentNanoUsd: number | null;
  readonly startedAt: string;
  /** Rewards of the cycles so far, oldest first. */
  readonly rewards: readonly number[];
  readonly best: { readonly checkpoint: string; readonly heldOut: number } | null;
  /** What went wrong last without harm to the night, in one sentence. */
  readonly warning: string | null;
}

const share = z.record(z.string(), z.number());

/** A line of metrics as it is read back from the store. Fields that a later version adds are left out. */
export const cycleMetricsSchema: z.ZodType<CycleMetrics> = z.object({
  schema: z.literal(1),
  trainRun: z.string(),
  cycle: z.int().positive(),
  night: z.string(),
  checkpoint: z.string(),
  weightsSha256: z.string().nullable(),
  at: z.string(),
  rewardMean: z.number(),
  rewardSpread: z.number(),
  formatRate: z.number(),
  verdicts: z.record(z.enum(['correct', 'wrong', 'unparseable', 'ungraded']), z.number()),
  draws: z.number(),
  dropped: z.number(),
  planLength: z.number(),
  workerShares: share,
  topologyShares: share,
  workerTokens: z.number(),
  planTokens: z.number(),
  usd: z.number().nullable(),
  update: z.object(updateMetricsSchema.shape).nullable(),
  times: z.object({
    sampling: z.number(),
    rollouts: z.number(),
    grading: z.number(),
    update: z.number(),
    publish: z.number(),
    between: z.number(),
    whole: z.number(),
  }),
  heldOut: z.number().nullable(),
});
