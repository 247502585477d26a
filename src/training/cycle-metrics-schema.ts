import { z } from 'zod';
import { updateMetricsSchema } from './trainer-contract';
import type { CycleMetrics } from './progress';

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
