import { z } from 'zod';
import { conductorSchema, milliseconds, workerSchema } from './cards';
import { MAX_CALLS, MAX_STEPS } from './messages';

const limitsSchema = z.object({
  /** Most steps of one plan. */
  steps: z.int().min(1).max(MAX_STEPS),
  /** How deep the Conductor may call itself; 0: not at all, null: as deep as the other limits let it. */
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
/** Limits of a run with everything below it. */
export type RunLimits = z.infer<typeof limitsSchema>;

/**
 * The configuration that one run keeps from its first Conductor call to its end, whatever changes on disk meanwhile.
 * Keys are never in it, only the names of environment variables. The sandbox imports the type alone.
 */
export const runSchema = z.object({
  conductor: conductorSchema,
  /** The workers this run may use, in the order of the configuration: the index is the plan's ordinal. */
  workers: z.array(workerSchema).min(1).readonly(),
  limits: limitsSchema,
  /** How the Conductor may call itself while depth remains: to review an answer, as a worker of its plan, or both. */
  recursion: z.enum(['review', 'worker', 'both', 'never']),
  /** How soon a lost worker process is noticed, and a cancellation heard. */
  heartbeatMs: milliseconds,
  /** Calls of a model go to `<task queue>-<provider>` instead of the run's own queue. */
  queuePerProvider: z.boolean(),
});
export type ResolvedRun = z.infer<typeof runSchema>;

/** The run of one solve: a result that lists more calls would not fit a payload. */
export const solveRunSchema = runSchema.extend({
  limits: limitsSchema.extend({ calls: z.int().min(1).max(MAX_CALLS) }),
});
