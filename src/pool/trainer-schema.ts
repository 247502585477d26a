import { z } from 'zod';
import { TRAINER_TASK_QUEUE } from '../training/names';

const count = z.int().positive();
const share = z.number().min(0).max(1);

/** Where a training run begins: a model at hand, or a tiny one of random weights. */
export const baseSchema = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({
      kind: z.literal('folder'),
      /** A Hugging Face model with its tokenizer, as the trainer's machine sees it. */
      path: z.string().min(1),
    }),
    z.strictObject({
      kind: z.literal('tiny'),
      vocabulary: z.int().min(300).default(400),
      hidden: count.default(64),
      layers: count.default(2),
      heads: count.default(4),
      keyValueHeads: count.default(2),
      feedForward: count.default(128),
      maxPositions: count.default(1024),
      initializerRange: z.number().positive().default(0.08),
    }),
  ],
  {
    error:
      'expected the model to begin with, { kind: folder, path: … } or { kind: tiny }, here or in a profile',
  },
);

/** Supervised steps on prompts and replies before the first cycle. */
export const warmStartSchema = z.strictObject({
  /** File of JSON lines, `{ prompt, completion }` as the model reads and writes them. */
  examples: z.string().min(1),
  steps: count,
  batch: count.default(32),
  learningRate: z.number().positive(),
  warmupSteps: z.int().nonnegative().default(0),
});

const tuningSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('full') }),
  z.strictObject({
    kind: z.literal('lora'),
    rank: count.default(32),
    alpha: z.number().positive().default(32),
    /** Which layers get an adapter, in the words of PEFT. */
    targets: z.string().min(1).default('all-linear'),
  }),
]);

const lossSchema = z
  .strictObject({
    name: z.enum(['dapo', 'grpo', 'bnpo', 'dr_grpo']).default('bnpo'),
    epsilon: share.gt(0).default(0.2),
    epsilonHigh: z.number().positive().default(0.2),
    beta: z.number().nonnegative().default(0),
  })
  .refine(({ epsilon, epsilonHigh }) => epsilonHigh >= epsilon, {
    path: ['epsilonHigh'],
    error: 'expected at least epsilon',
  });

const optimizerSchema = z.strictObject({
  learningRate: z.number().positive().default(1e-6),
  beta1: share.default(0.9),
  beta2: share.default(0.999),
  epsilon: z.number().positive().default(1e-8),
  weightDecay: z.number().nonnegative().default(0),
  maxGradNorm: z.number().positive().default(1),
  schedule: z.enum(['constant', 'cosine', 'linear']).default('cosine'),
  warmupSteps: z.int().nonnegative().default(6),
});

/** How the trainer makes a checkpoint of a batch; the defaults are the paper's (appendix A.1 and its configurations). */
export const trainerSchema = z.strictObject({
  taskQueue: z.string().min(1).default(TRAINER_TASK_QUEUE),
  device: z.enum(['cpu', 'cuda']).default('cuda'),
  precision: z.enum(['float32', 'bfloat16']).default('bfloat16'),
  tuning: tuningSchema.default({ kind: 'full' }),
  loss: lossSchema.prefault({}),
  optimizer: optimizerSchema.prefault({}),
  /** Rollouts that pass through the model at once: as many as its memory holds. */
  microBatch: count.default(4),
  /** Optimizer steps that a batch is used for. */
  iterations: count.default(1),
});
