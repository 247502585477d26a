import { z } from 'zod';
import { attemptSchema } from '../evaluation/results';

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

const groupIdSchema = z.object({
  trainRun: z.string(),
  /** To learn from, to try a policy on held-out questions, to try once more what was promoted, or for examples to imitate. */
  purpose: z.enum(['training', 'evaluation', 'canary', 'examples']),
  /** Counts upwards over all nights of a training run, from 1; examples are of none, 0. */
  cycle: z.int().nonnegative(),
  /** Id of the question. */
  question: z.string(),
  /** Which draw of the cycle it was, from 0; a question may be drawn more than once. Of examples, a digest of what was asked. */
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
