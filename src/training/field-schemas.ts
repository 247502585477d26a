import { z } from 'zod';

// Fields that the configuration has in common with the trainer's requests and with the inputs of workflows.

const count = z.int().positive();
const share = z.number().min(0).max(1);

/** Name of a training run: part of store keys and of model names. */
export const trainRunSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, {
  error: 'expected small letters, digits and "-", the first one a letter or digit, 63 at most',
});

/** A tiny Qwen2 of random weights with a byte-level tokenizer trained on texts. */
export const tinySchema = z.strictObject({
  kind: z.literal('tiny'),
  vocabulary: z.int().min(300).default(400),
  hidden: count.default(64),
  layers: count.default(2),
  heads: count.default(4),
  keyValueHeads: count.default(2),
  feedForward: count.default(128),
  maxPositions: count.default(1024),
  initializerRange: z.number().positive().default(0.08),
});

/** Which weights a warm start changes: those that the run's tuning changes, or all. */
export const warmedWeights = z.enum(['tuned', 'all']);

export const tuningSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('full') }),
  z.strictObject({
    kind: z.literal('lora'),
    rank: count.default(32),
    alpha: z.number().positive().default(32),
    /** Which layers get an adapter, in the words of PEFT. */
    targets: z.string().min(1).default('all-linear'),
  }),
]);

export const lossSchema = z
  .strictObject({
    name: z.enum(['dapo', 'grpo', 'bnpo', 'dr_grpo']).default('bnpo'),
    epsilon: share.gt(0).default(0.2),
    epsilonHigh: z.number().positive().default(0.2),
    /** Weight of the KL term against the run's first checkpoint, after its warm start; 0: none, and no such model. */
    beta: z.number().nonnegative().default(0),
    /** How the sampler's probabilities are corrected for: importance weights, in TRL's words. */
    correction: z
      .enum(['none', 'token_truncate', 'token_mask', 'sequence_truncate', 'sequence_mask'])
      .default('token_truncate'),
    /** Beyond it a weight is cut off (truncate), or 0 (mask). */
    mostWeight: z.number().positive().default(3),
    /** Leaves replies that were cut off at `maxOutputTokens` out of the loss. */
    maskTruncated: z.boolean().default(false),
  })
  .refine(({ epsilon, epsilonHigh }) => epsilonHigh >= epsilon, {
    path: ['epsilonHigh'],
    error: 'expected at least epsilon',
  });

export const optimizerSchema = z.strictObject({
  learningRate: z.number().positive().default(1e-6),
  beta1: share.default(0.9),
  beta2: share.default(0.999),
  epsilon: z.number().positive().default(1e-8),
  weightDecay: z.number().nonnegative().default(0),
  maxGradNorm: z.number().positive().default(1),
  /** `wsd`: warmup, stable, decay; the rate falls to 0 over the last third. */
  schedule: z.enum(['constant', 'cosine', 'linear', 'wsd']).default('cosine'),
  warmupSteps: z.int().nonnegative().default(6),
});
