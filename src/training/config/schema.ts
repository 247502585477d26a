import { z } from 'zod';
import { type ConfigInput, configSchema } from '../../config/schema';
import { ACCESS_MODES, DESCRIBE_MODES } from '../../plan/plan';
import { baseUrlSchema, durationSchema } from '../../config/field-schemas';
import { limitSchemas } from '../../protocol/input';
import { readStoreUrl } from '../../config/store-url';
import * as contract from '../trainer-contract';
import { MAX_CYCLE, MOST, TRAINER_TASK_QUEUE } from '../names';

const count = z.int().positive();
const path = z.string().min(1);
const share = z.number().min(0).max(1);

const baseSchema = z.discriminatedUnion(
  'kind',
  [z.strictObject({ kind: z.literal('folder'), path }), contract.tinySchema],
  {
    error:
      'expected the model to start from, { kind: folder, path: … } or { kind: tiny }, here or in a profile',
  },
);

/** Optimizer steps on examples. */
const supervision = {
  steps: count,
  batch: count.default(32),
  learningRate: z.number().positive(),
  warmupSteps: z.int().nonnegative().default(0),
};

const warmStartSchema = z.strictObject({
  examples: path,
  ...supervision,
  weights: contract.warmedWeights.default('tuned'),
});

const imitationSchema = z.strictObject({
  /** Number of cycles that imitate, counted from the start of the training run, not of a night. */
  cycles: count.max(MAX_CYCLE),
  ...supervision,
  /** Share of these cycles' examples that the warm start provides, so that the policy keeps trying other plans. */
  warmStartShare: share.lt(1).default(0),
  /** After those, every `every`th cycle imitates again, with `steps` of its own. */
  again: z.strictObject({ every: z.int().min(2).max(MAX_CYCLE), steps: count }).exactOptional(),
});
export type ImitationSettings = z.output<typeof imitationSchema>;

/** Copies of the model, and the processes that share each; named as in accelerate's `ParallelismConfig`. */
const parallelismSchema = z.strictObject({
  dpReplicateSize: count.default(1),
  dpShardSize: count.default(1),
  tpSize: refused(
    'accelerate has no tensor parallelism on CPUs, where it was to be proved: remove it, and raise dpShardSize',
  ),
  cpSize: refused("TRL's GRPO has none: remove it, and lower microBatch"),
});

function refused(error: string) {
  return z.never({ error }).exactOptional();
}

/** The defaults are the paper's (appendix A.1 and its configurations). */
const trainerSchema = z
  .strictObject({
    taskQueue: z.string().min(1).default(TRAINER_TASK_QUEUE),
    device: z.enum(['cpu', 'cuda']).default('cuda'),
    precision: z.enum(['float32', 'bfloat16']).default('bfloat16'),
    tuning: contract.tuningSchema.default({ kind: 'full' }),
    loss: contract.lossSchema.prefault({}),
    optimizer: contract.optimizerSchema.prefault({}),
    microBatch: count.default(4),
    processes: count.max(64).default(1),
    parallelism: parallelismSchema.exactOptional(),
    offload: z.boolean().default(false),
    iterations: count.default(1),
    minibatches: count.default(1),
  })
  .refine(({ offload, tuning }) => !offload || tuning.kind === 'full', {
    path: ['offload'],
    error: 'expected "tuning: { kind: full }" as well: an adapter has little to keep in host memory',
  })
  .superRefine(({ parallelism, processes, tuning }, context) => {
    if (parallelism === undefined) return;
    const refuse = (message: string): void => {
      context.addIssue({ code: 'custom', path: ['parallelism'], message });
    };
    const { dpReplicateSize, dpShardSize } = parallelism;
    if (dpReplicateSize * dpShardSize !== processes) {
      refuse(`expected sizes whose product is "processes", which is ${processes}`);
    } else if (tuning.kind === 'lora' && Math.min(dpReplicateSize, dpShardSize) > 1) {
      refuse(
        'expected 1 for one of them, or "tuning: { kind: full }": PEFT adapts no copies that are shared',
      );
    }
  })
  .refine(({ processes, tuning, optimizer }) => processes === 1 || !needsBitsandbytes(tuning, optimizer), {
    path: ['processes'],
    error: 'expected 1: bitsandbytes shares neither "tuning.quantize: 4bit" nor "optimizer.name: adamw8bit"',
  });

function needsBitsandbytes(
  tuning: z.output<typeof contract.tuningSchema>,
  { name }: { readonly name?: string },
): boolean {
  return (tuning.kind === 'lora' && tuning.quantize !== undefined) || name === 'adamw8bit';
}

const artifactsSchema = path.refine((url) => !/^\w+:/.test(url) || readStoreUrl(url)?.kind === 's3', {
  error: 'expected a folder, or s3://BUCKET/PREFIX',
});

const temperature = z.number().positive().max(2);

const rewardSchema = z
  .strictObject({
    unparseable: z.number().default(0),
    parseable: z.number().default(0.5),
    correct: z.number().default(1),
    costWeight: z.number().nonnegative().default(0),
    lengthWeight: z.number().nonnegative().default(0),
    scale: z.enum(['group', 'batch', 'none']).default('group'),
    maxAdvantage: z.number().positive().nullable().default(null),
  })
  .refine(({ unparseable, parseable }) => unparseable <= parseable, {
    path: ['parseable'],
    error: 'expected at least what an unparseable reply earns',
  })
  .refine(({ parseable, correct }) => parseable < correct, {
    path: ['correct'],
    error: 'expected more than what a wrong answer earns',
  });

/** Server that `train up` starts at a `baseUrl` of this machine. Its program is never named here: see find-python.ts. */
const serveSchema = z.strictObject({
  engine: z.literal('vllm'),
  /** Numbers as `nvidia-smi` has them; several hold one copy of the model together. @default the first */
  gpus: z.array(z.int().min(0).max(63)).min(1).max(64).exactOptional(),
  /** Share of a GPU's memory that it takes; the trainer needs the rest if it uses the same one. */
  memoryShare: z.number().positive().max(1).default(0.4),
});

const policySchema = z
  .strictObject(
    {
      baseUrl: z.union([baseUrlSchema, z.array(baseUrlSchema).min(1).max(MOST.servers)], {
        error: `expected a plain http or https address such as http://127.0.0.1:8001/v1, or a list of 1 to ${MOST.servers}`,
      }),
      sleepDuringUpdate: z.boolean().default(false),
      serve: serveSchema.exactOptional(),
      prompt: z.enum(['full', 'compact']).default('full'),
      describe: z.enum(DESCRIBE_MODES).default('ordinals'),
      access: z.enum(ACCESS_MODES).default('binary'),
      /** `none`, `in-domain`, `mixed`, `out-of-domain` or a file. Default: `out-of-domain`; `none` if compact. */
      examples: path.exactOptional(),
      /** `masked`: the policy thinks before its plan, and does not learn its thoughts. */
      thinking: z.enum(['off', 'masked']).default('off'),
      servingTemperature: temperature.default(0.2),
      maxPromptTokens: count.default(8192),
      maxOutputTokens: count.default(1024),
      timeout: durationSchema.default('10m'),
      patience: durationSchema.default('10m'),
    },
    {
      error:
        'expected the address of the policy server, { baseUrl: http://127.0.0.1:8001/v1 }, here or in a profile',
    },
  )
  .refine(({ prompt, examples = 'none' }) => prompt === 'full' || examples === 'none', {
    path: ['examples'],
    error: 'expected "prompt: full" as well: a compact prompt shows no examples',
  });

const poolSchema = z
  .strictObject({
    adaptive: z.boolean().default(false),
    least: count.default(2),
    permuteIds: z.boolean().default(false),
    heldOut: z.array(z.array(z.string().min(1)).min(1)).default([]),
  })
  .refine(({ adaptive, heldOut }) => adaptive || heldOut.length === 0, {
    path: ['heldOut'],
    error: 'expected "adaptive: true" as well: otherwise every question is given all workers',
  });

export const trainingSchema = z
  .strictObject({
    /** Read before the rest is checked: its values are the defaults of the rest. */
    profile: path.exactOptional(),
    run: contract.trainRunSchema.default('nightly'),
    seed: z.int().min(0).max(0x7fffffff).default(42),
    data: z.strictObject(
      { train: path, heldOut: path },
      { error: 'expected two files of questions, { train: a.jsonl, heldOut: b.jsonl }' },
    ),
    base: baseSchema,
    warmStart: warmStartSchema.exactOptional(),
    imitation: imitationSchema.exactOptional(),
    artifacts: artifactsSchema.default('.conductor/artifacts'),
    checkpoints: path.default('checkpoints'),
    cycles: count.max(MOST.cycles).default(20),
    totalCycles: count.max(MAX_CYCLE).default(200),
    questions: count.max(MOST.questions).default(4),
    groupSize: z.int().min(2).max(MOST.plans).default(64),
    minFormatRate: share.default(0.95),
    staleness: z.literal([0, 1]).default(0),
    maxDraws: count.max(MOST.draws).exactOptional(),
    keepFlat: z.boolean().default(false),
    window: count.default(10),
    slots: count.nullable().default(null),
    temperature: temperature.default(1),
    reward: rewardSchema.prefault({}),
    policy: policySchema,
    pool: poolSchema.prefault({}),
    plan: z.strictObject({ subtasks: z.boolean().default(true) }).prefault({}),
    recursion: z
      .strictObject({
        rounds: z.literal([1, 2]).default(1),
        rootDiscount: share.default(0.25),
        baseline: z.enum(['question', 'verdict']).default('question'),
      })
      .prefault({}),
    evaluateEvery: count.nullable().default(null),
    gate: z
      .strictObject({
        maxCostRatio: z.number().positive().nullable().default(null),
        margin: z.number().min(0).max(1).default(0.02),
        samples: count.max(MOST.plans).default(4),
      })
      .prefault({}),
    tolerance: z
      .strictObject({
        probe: z.number().positive().nullable().default(null),
        canary: z.number().positive().nullable().default(null),
      })
      .prefault({}),
    continueFrom: z.enum(['last', 'best', 'serving']).default('serving'),
    keep: z
      .strictObject({ last: z.int().nonnegative().default(5), every: count.nullable().default(null) })
      .prefault({}),
    budget: z
      .strictObject({
        costUsd: limitSchemas.costUsd.default(50),
        hours: z.number().positive().max(168).default(6),
      })
      .prefault({}),
    trainer: trainerSchema.prefault({}),
  })
  .refine(({ maxDraws, questions }) => maxDraws === undefined || maxDraws >= questions, {
    path: ['maxDraws'],
    error: 'expected at least as many as "questions"',
  })
  .refine(({ staleness, policy }) => staleness === 0 || !policy.sleepDuringUpdate, {
    path: ['policy', 'sleepDuringUpdate'],
    error: 'expected "staleness: 0": with 1, plans are sampled during the update',
  })
  .refine(({ policy }) => typeof policy.baseUrl === 'string' || policy.serve === undefined, {
    path: ['policy', 'serve'],
    error: 'expected one address as "baseUrl": "train up" starts one vLLM, on all the GPUs of its "gpus"',
  })
  .refine(({ base, policy }) => base.kind === 'folder' || policy.serve === undefined, {
    path: ['policy', 'serve'],
    error:
      'expected "base: { kind: folder, path: … }" as well: vLLM starts before the first night makes a tiny base',
  })
  .refine(({ imitation, totalCycles }) => (imitation?.cycles ?? 0) < totalCycles, {
    path: ['imitation', 'cycles'],
    error: 'expected fewer than "totalCycles", so that some cycles are left to learn from rewards',
  })
  .refine(({ imitation, trainer }) => !imitation?.again || trainer.optimizer.schedule === 'constant', {
    path: ['imitation', 'again'],
    error: 'expected "trainer.optimizer.schedule" to be constant: each imitation restarts the optimizer',
  })
  .refine(({ imitation, warmStart }) => warmStart !== undefined || (imitation?.warmStartShare ?? 0) === 0, {
    path: ['imitation', 'warmStartShare'],
    error: 'expected "warmStart" as well: it draws from the examples there',
  })
  .refine(
    ({ questions, groupSize, recursion, trainer: { microBatch, processes, minibatches } }) =>
      minibatches === 1 || microBatch * processes * minibatches <= questions * groupSize * recursion.rounds,
    {
      path: ['trainer', 'minibatches'],
      error: 'expected fewer, or a smaller "microBatch": a batch has too few rollouts for that',
    },
  )
  .refine(({ policy, pool }) => policy.describe !== 'ordinals' || !(pool.adaptive || pool.permuteIds), {
    path: ['policy', 'describe'],
    error:
      'expected names or notes, since with pool.adaptive or pool.permuteIds an ordinal means a different worker each time',
  });

export type TrainingConfig = z.output<typeof trainingSchema>;

export type TrainingInput = Partly<z.input<typeof trainingSchema>>;

type Partly<T> = T extends object ? { readonly [Key in keyof T]?: Partly<T[Key]> } : T;

export const trainingConfigSchema = configSchema.safeExtend({ training: trainingSchema.optional() }).refine(
  // Groups with their own slots wait in another queue, which would bypass the rate limit of a provider's queue.
  ({ temporal, training }) =>
    temporal.callsPerSecond === undefined || training === undefined || training.slots === null,
  {
    path: ['training', 'slots'],
    error:
      'calls of nights with slots of their own would not be counted in temporal.callsPerSecond; remove one of the two',
  },
);

export type TrainableInput = ConfigInput & { readonly training?: TrainingInput };

export type TrainableConfig = z.output<typeof trainingConfigSchema>;
