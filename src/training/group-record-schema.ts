import { z } from 'zod';
import { planSchema } from '../plan/plan';
import type { GroupRecord } from './rollout';

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
  spoiltBy: z.string().nullable(),
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
