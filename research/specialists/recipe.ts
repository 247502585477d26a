import type { ImitationSettings, TrainingConfig } from '../../src/training/config/schema';
import type { TrainerConfig } from '../../src/training/trainer-contract';
import type { Supervision } from '../demo/town';
import { type Share, SINGLES, TRAINED_PAIRS, TRAINED_TRIPLES } from './questions';
import { ALL_PHRASES, type Phrase, SKILLS } from './skills';
import type { Exam } from './scores';
import { type Schooling, SCHOOLINGS } from './workers';

/** The initial network, and which of its weights are trained. */
interface Pupil {
  readonly base: TrainingConfig['base'];
  readonly tuning: TrainerConfig['tuning'];
}

/** Training of the workers. */
export interface School extends Pupil, Omit<Supervision, 'steps'> {
  readonly workers: readonly Schooling[];
}

/** Training of workers and a Conductor; the Conductor learns in three parts, one after the other. */
export interface Recipe extends Pupil {
  readonly school: School;
  readonly device: TrainerConfig['device'];
  /** Compositions of questions, with their shares. */
  readonly sets: readonly Share[];
  /** Subtasks of random plans, and of those that the table tries. */
  readonly phrases: readonly Phrase[];
  /** Imitation of even plans, until almost every reply is a plan. */
  readonly warmStart: Supervision & { readonly examples: number };
  /** Questions per cycle of the other parts, each with `groupSize` plans: new pairs need many questions. */
  readonly questions: number;
  readonly groupSize: number;
  /** Imitation of its own right plans, mixed with even ones, so that it goes on trying others. */
  readonly imitation: ImitationSettings;
  /** GRPO, except in cycles that imitate again. */
  readonly rewards: {
    readonly cycles: number;
    readonly learningRate: number;
    readonly iterations: number;
    readonly minibatches: number;
  };
  /** Rows that the trainer takes at a time. */
  readonly microBatch: number;
  /** Questions that monitor training, every `lookedAtEach` cycles. */
  readonly lookedAt: Exam;
  readonly lookedAtEach: number;
  /** Questions that the result is scored on. */
  readonly triedOn: Exam;
}

/** Precision of updates, by device. */
export const PRECISION = { cpu: 'float32', cuda: 'bfloat16' } as const;

/** Networks of 120,000 random weights. */
const SMALLEST: Pupil = {
  base: {
    kind: 'tiny',
    vocabulary: 900,
    hidden: 64,
    layers: 2,
    heads: 4,
    keyValueHeads: 4,
    feedForward: 192,
    maxPositions: 512,
    initializerRange: 0.08,
  },
  tuning: { kind: 'full' },
};

export const TINY: Recipe = {
  ...SMALLEST,
  school: { ...SMALLEST, workers: SCHOOLINGS, batch: 16, learningRate: 3e-3, warmupSteps: 50 },
  device: 'cpu',
  // Mostly pairs, which are to be learned; single skills teach early whom to ask.
  sets: [
    [0.2, SINGLES],
    [0.75, TRAINED_PAIRS],
    [0.05, TRAINED_TRIPLES],
  ],
  phrases: ALL_PHRASES,
  warmStart: { examples: 40_000, steps: 900, batch: 48, learningRate: 3e-3, warmupSteps: 50 },
  questions: 96,
  groupSize: 12,
  imitation: {
    cycles: 60,
    steps: 12,
    batch: 84,
    warmStartShare: 1 / 7,
    learningRate: 2e-3,
    warmupSteps: 3,
    again: { every: 40, steps: 240 },
  },
  rewards: { cycles: 160, learningRate: 5e-4, iterations: 1, minibatches: 2 },
  microBatch: 192,
  lookedAt: { name: 'looked at', count: 12 },
  lookedAtEach: 20,
  triedOn: { name: 'tried on', count: 30 },
};

/** A language model with an adapter that is trained. */
const smollm2 = (path: string): Pupil => ({
  base: { kind: 'folder', path },
  tuning: { kind: 'lora', rank: 16, alpha: 32, targets: 'all-linear' },
});

/** Workers that each have an adapter for one skill. */
export const smollm2School = (path: string): School => ({
  ...smollm2(path),
  workers: SKILLS.map((skill, index) => ({
    id: `w${index}`,
    taught: [
      [skill, 'plain'],
      [skill, 'fancy'],
    ],
    steps: 120,
  })),
  batch: 16,
  learningRate: 1e-3,
  warmupSteps: 10,
});

/** Work per cycle that suits a device: a GPU writes many plans for a question in the time of one. */
const WORKLOADS: Readonly<
  Record<
    Recipe['device'],
    Pick<
      Recipe,
      'warmStart' | 'questions' | 'groupSize' | 'imitation' | 'microBatch' | 'lookedAtEach' | 'triedOn'
    >
  >
> = {
  cuda: {
    warmStart: { examples: 6400, steps: 200, batch: 32, learningRate: 5e-4, warmupSteps: 10 },
    questions: 16,
    groupSize: 48,
    imitation: {
      cycles: 20,
      steps: 8,
      batch: 64,
      warmStartShare: 1 / 8,
      learningRate: 5e-4,
      warmupSteps: 2,
    },
    microBatch: 32,
    lookedAtEach: 20,
    triedOn: { ...TINY.triedOn, count: 4 },
  },
  cpu: {
    warmStart: { examples: 960, steps: 60, batch: 16, learningRate: 1e-3, warmupSteps: 10 },
    questions: 8,
    groupSize: 24,
    imitation: {
      cycles: 20,
      steps: 4,
      batch: 16,
      warmStartShare: 1 / 8,
      learningRate: 1e-3,
      warmupSteps: 2,
    },
    microBatch: 16,
    lookedAtEach: 5,
    triedOn: { ...TINY.triedOn, count: 1 },
  },
};

/** Training of a Conductor that is a language model, with as much work as suits the device. */
export const smollm2Recipe = (path: string, device: Recipe['device']): Recipe => ({
  ...TINY,
  ...smollm2(path),
  device,
  ...WORKLOADS[device],
  rewards: { cycles: 20, learningRate: 1e-4, iterations: 1, minibatches: 2 },
  lookedAt: { ...TINY.lookedAt, count: 1 },
});
