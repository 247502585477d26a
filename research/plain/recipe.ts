import type { CheckpointManifest } from '../../src/training/policy/serving';
import type { TrainingSettings } from '../../src/training/config';
import {
  type InitRequest,
  type TrainerConfig,
  trainerConfigSchema,
  type WarmStartRequest,
} from '../../src/training/trainer-contract';
import { readWhole } from '../support/options';
import { DECOY_PRIOR, type Prior } from '../world/warm-start';
import { SMALL_WORLD, WHOLE_WORLD, type World } from '../world/world';

/** Everything that decides how a policy learns a world, apart from the seed. */
export interface Recipe {
  readonly world: World;
  /** Number of training questions. */
  readonly train: number;
  /** Number of held-out questions. */
  readonly heldOut: number;
  /** Topics to learn from; default: all. A warm start uses all topics. */
  readonly topics?: readonly string[];
  /** How the prompt describes the workers; notes are measured on the training questions. */
  readonly describe: CheckpointManifest['describe'];
  /** Selection of the workers that each group gets. */
  readonly pool: TrainingSettings['pool'];
  /** With two rounds, the policy reviews every answer. */
  readonly recursion: TrainingSettings['recursion'];
  /** Reward that a right answer loses per USD of its workers; a plan costs less than $0.001. */
  readonly costWeight: number;
  readonly maxPromptTokens: number;
  /** How the examples of the warm start are drawn. */
  readonly prior: Prior;
  readonly warmStart: WarmStart;
  readonly learning: Learning;
}

/** Learning from examples: AdamW with a learning rate that falls to 0. */
interface WarmStart {
  readonly examples: number;
  readonly steps: number;
  readonly batch: number;
  readonly learningRate: number;
  readonly warmupSteps: number;
  readonly weights: WarmStartRequest['weights'];
}

type Schedule = TrainerConfig['optimizer']['schedule'];

/** Learning from rewards: GRPO. */
export interface Learning {
  readonly cycles: number;
  /** All weights of the warm start, or an adapter on them. */
  readonly tuning: TrainerConfig['tuning'];
  /** Per cycle. */
  readonly questions: number;
  /** Plans per question. */
  readonly groupSize: number;
  /** Maximum questions drawn per cycle, since groups without spread are dropped. */
  readonly maxDraws: number;
  readonly learningRate: number;
  readonly schedule: Schedule;
  /** In optimizer steps. */
  readonly warmupSteps: number;
  /** Weight of the KL term towards the warm start. */
  readonly beta: number;
  /** Passes over each batch, each of one optimizer step. */
  readonly iterations: number;
  /** Number of cycles by which the plans of a batch lag behind the policy that learns from them. */
  readonly staleness: TrainingSettings['staleness'];
}

/** In tokens; no prompt or plan of these worlds comes near these limits. */
const LONGEST_PROMPT = 200;
export const LONGEST_PLAN = 160;

/** Takes two minutes of one core. */
export const SMALL: Recipe = {
  world: SMALL_WORLD,
  train: 400,
  heldOut: 40,
  describe: 'ordinals',
  pool: { adaptive: false, least: 2, permuteIds: false, heldOut: [] },
  recursion: { rounds: 1, rootDiscount: 0.25, baseline: 'question' },
  costWeight: 0,
  maxPromptTokens: LONGEST_PROMPT,
  prior: DECOY_PRIOR,
  warmStart: { examples: 2000, steps: 600, batch: 32, learningRate: 6e-3, warmupSteps: 20, weights: 'all' },
  learning: {
    cycles: 28,
    tuning: { kind: 'full' },
    questions: 4,
    groupSize: 32,
    maxDraws: 8,
    learningRate: 1e-3,
    schedule: 'linear',
    warmupSteps: 8,
    beta: 0,
    iterations: 2,
    staleness: 0,
  },
};

/**
 * Only attention weights are trained: what they learn for one topic affects others least, which would otherwise lose
 * their best shapes before trying them often enough. The rate stays high while the policy learns to tell topics apart.
 */
export const WHOLE: Recipe = {
  ...SMALL,
  world: WHOLE_WORLD,
  train: 1200,
  heldOut: 32,
  warmStart: { ...SMALL.warmStart, examples: 4000, steps: 800 },
  learning: {
    ...SMALL.learning,
    cycles: 130,
    tuning: { kind: 'lora', rank: 16, alpha: 32, targets: '.*self_attn.*_proj' },
    questions: 16,
    groupSize: 16,
    maxDraws: 32,
    learningRate: 2e-3,
    schedule: 'wsd',
    warmupSteps: 10,
  },
};

const RECIPES: Readonly<Record<string, Recipe>> = { small: SMALL, whole: WHOLE };

/** Returns the recipe that `--world` names. */
export function recipeFor(world: string): Recipe {
  const recipe = RECIPES[world];
  if (recipe) return recipe;
  throw new Error(`--world takes ${Object.keys(RECIPES).join(' or ')}, not "${world}".`);
}

/** Changes the number of cycles, if one is given. */
export function withCycles(recipe: Recipe, cycles: string | undefined): Recipe {
  return withLearning(recipe, { cycles });
}

type LearningOptions = Readonly<
  Partial<Record<'cycles' | 'beta' | 'schedule' | 'staleness', string | undefined>>
>;

/** Applies the given options to how the recipe learns. */
export function withLearning(recipe: Recipe, { cycles, beta, schedule, staleness }: LearningOptions): Recipe {
  const changes = {
    ...(cycles !== undefined && { cycles: readWhole('--cycles', cycles) }),
    ...(beta !== undefined && { beta: Number(beta) }),
    ...(schedule !== undefined && { schedule: scheduleNamed(schedule) }),
    ...(staleness !== undefined && { staleness: staleness === '1' ? (1 as const) : (0 as const) }),
  };
  return { ...recipe, learning: { ...recipe.learning, ...changes } };
}

function scheduleNamed(name: string): Schedule {
  const { data, success } = scheduleSchema.safeParse(name);
  if (success) return data;
  throw new Error(`--schedule takes ${scheduleSchema.unwrap().options.join(', ')}, not "${name}".`);
}

const scheduleSchema = trainerConfigSchema.shape.optimizer.shape.schedule;

/** A tiny Qwen2 of 100,000 weights. */
export function baseOf(texts: { readonly key: string; readonly sha256: string }): InitRequest['base'] {
  return {
    kind: 'tiny',
    texts,
    vocabulary: 400,
    hidden: 64,
    layers: 2,
    heads: 4,
    keyValueHeads: 2,
    feedForward: 128,
    maxPositions: 512,
    initializerRange: 0.08,
  };
}

/** Returns the trainer's settings. */
export function configOf(
  { learning, recursion, maxPromptTokens }: Pick<Recipe, 'learning' | 'recursion' | 'maxPromptTokens'>,
  seed: number,
): TrainerConfig {
  const { cycles, tuning, questions, groupSize, learningRate, schedule, warmupSteps, beta, iterations } =
    learning;
  const rollouts = questions * groupSize * recursion.rounds;
  return {
    seed,
    device: 'cpu',
    precision: 'float32',
    tuning,
    loss: {
      name: 'dapo',
      epsilon: 0.2,
      epsilonHigh: 0.28,
      ratio: 'token',
      beta,
      entropy: 0,
      correction: 'token_truncate',
      mostWeight: 3,
      maskTruncated: false,
    },
    optimizer: {
      learningRate,
      beta1: 0.9,
      beta2: 0.999,
      epsilon: 1e-8,
      weightDecay: 0,
      maxGradNorm: 1,
      schedule,
      warmupSteps,
      totalSteps: cycles * iterations,
    },
    scale: 'group',
    maxAdvantage: null,
    rollouts,
    groupSize,
    microBatch: rollouts,
    processes: 1,
    offload: false,
    iterations,
    minibatches: 1,
    temperature: 1,
    maxPromptTokens,
    maxCompletionTokens: LONGEST_PLAN,
  };
}
