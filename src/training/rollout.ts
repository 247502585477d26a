import { z } from 'zod';
import type { Plan } from '../plan/plan';
import { planSchema } from '../plan/schema';
import type { Text } from '../protocol/text';
import type { Verdict } from '../grading/grade';

/** What a group is for: to learn from, to try a policy on held-out questions, or to try once more what was promoted. */
export type GroupPurpose = 'training' | 'evaluation' | 'canary';

/** The rollouts of one question in one cycle. */
export interface GroupId {
  readonly trainRun: string;
  readonly purpose: GroupPurpose;
  /** Counts upwards over all nights of a training run, from 1. */
  readonly cycle: number;
  /** Id of the question. */
  readonly question: string;
  /** Which draw of the cycle it was, from 0; a question may be drawn more than once. */
  readonly draw: number;
}

/**
 * Names one rollout, whatever workflow, process or attempt makes it: an interrupted run makes the same calls
 * under the same names as an undisturbed one.
 */
export interface RolloutId extends GroupId {
  /** Its place in the group, from 0. */
  readonly rollout: number;
}

/** One plan that the policy wrote, and what its text came to. */
export interface SampledPlan {
  /** null where the reply is no plan. */
  readonly plan: Plan | null;
  /** What is wrong with the reply; null beside a plan. */
  readonly problem: string | null;
  /** Length of the reply in tokens, its end included. */
  readonly tokens: number;
}

/** A rollout that is over. */
export interface Rollout extends SampledPlan {
  /** Its place in the group, and in the group's samples, from 0. */
  readonly index: number;
  /** In a second round: the rollout of the first that it reviews; else its own index. */
  readonly root: number;
  readonly answer: Text | null;
  readonly verdict: Verdict;
  /** null: outside its group's baseline, with advantage 0. */
  readonly reward: number | null;
  /** What its workers came to. */
  readonly usage: { readonly calls: number; readonly inputTokens: number; readonly outputTokens: number };
  /** 10⁻⁹ USD; null where a price is unknown. */
  readonly nanoUsd: number | null;
  /** Why it says nothing about its plan, and is `ungraded`: a provider failed, or a limit was reached; else null. */
  readonly invalidBecause: string | null;
}

/** A group that is over, as it is kept in the store. */
export interface GroupRecord extends GroupId {
  readonly round: number;
  /** Ids of the workers in the order of the prompt. */
  readonly workers: readonly string[];
  /** Who wrote the plans: `<training run>/<name>`, or `prompted`. */
  readonly checkpoint: string;
  /** Store key of the prompts, token ids and log-probabilities; null for the prompted Conductor. */
  readonly samples: string | null;
  readonly rollouts: readonly Rollout[];
}

const textSchema = z.union([
  z.string(),
  z.object({ ref: z.string(), bytes: z.number(), preview: z.string() }),
]);

const rolloutSchema = z.object({
  index: z.int().nonnegative(),
  root: z.int().nonnegative(),
  plan: planSchema.nullable(),
  problem: z.string().nullable(),
  tokens: z.number(),
  answer: textSchema.nullable(),
  verdict: z.enum(['correct', 'wrong', 'unparseable', 'ungraded']),
  reward: z.number().nullable(),
  usage: z.object({ calls: z.number(), inputTokens: z.number(), outputTokens: z.number() }),
  nanoUsd: z.number().nullable(),
  invalidBecause: z.string().nullable(),
});

/** A group as it is read back from the store. Fields that a later version adds are left out. */
export const groupRecordSchema: z.ZodType<GroupRecord> = z.object({
  trainRun: z.string(),
  purpose: z.enum(['training', 'evaluation', 'canary']),
  cycle: z.int().nonnegative(),
  question: z.string(),
  draw: z.int().nonnegative(),
  round: z.int().nonnegative(),
  workers: z.array(z.string()),
  checkpoint: z.string(),
  samples: z.string().nullable(),
  rollouts: z.array(rolloutSchema),
});
