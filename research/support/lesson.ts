import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { conductorMessages } from '../../src/plan/prompt/conductor';
import type { TrainingInput } from '../../src/training/config/schema';
import { tinyPrompt } from './tiny-prompt';
import { questionSet, toJsonLines } from '../world/questions';
import { warmStartExamples } from '../world/warm-start';
import type { World } from '../world/world';

/** A world, and how a policy learns it. */
export interface Lesson {
  readonly world: World;
  readonly seed: number;
  /** Supervised steps before the first cycle. */
  readonly warmStartSteps: number;
  /** Numbers of training questions, held-out questions and examples; default: as few as a short test needs. */
  readonly size?: { readonly train: number; readonly heldOut: number; readonly examples: number };
  /** Overrides of the settings that all lessons share. */
  readonly training?: TrainingInput;
}

/** Run of lessons that name none; lessons on one Temporal server each need their own. */
export const TRAIN_RUN = 'lesson';
const SHORT = { train: 256, heldOut: 8, examples: 2000 };

/** Writes the files that a lesson's configuration names. */
export async function writeLesson({ world, seed, size = SHORT }: Lesson, folder: string): Promise<void> {
  const train = questionSet(world, 'train', size.train, seed);
  const heldOut = questionSet(world, 'heldOut', size.heldOut, seed);
  const { workers, maxSteps } = world;
  const promptFor = (question: string): string =>
    tinyPrompt(
      conductorMessages({
        style: 'compact',
        question,
        workers: workers.map(({ id }) => ({ id, notes: null })),
        describe: 'ordinals',
        maxSteps,
        format: 'lists',
        access: 'binary',
        repairs: [],
      }),
    );
  const examples = warmStartExamples({
    world,
    questions: train,
    count: size.examples,
    seed,
    promptFor,
  });
  const files = { 'train.jsonl': train, 'held-out.jsonl': heldOut, 'examples.jsonl': examples };
  for (const [name, rows] of Object.entries(files)) await writeFile(join(folder, name), toJsonLines(rows));
}

/** A lesson's folder, policy server and trainer queue. */
export interface Place {
  readonly folder: string;
  readonly baseUrl: string;
  readonly trainerQueue: string;
}

/** Returns a lesson's settings; the default figures are the recipe of the small world. */
export function trainingOf(
  { seed, warmStartSteps, training = {} }: Lesson,
  { folder, baseUrl, trainerQueue }: Place,
): TrainingInput {
  return {
    run: TRAIN_RUN,
    seed,
    artifacts: join(folder, 'artifacts'),
    data: { train: join(folder, 'train.jsonl'), heldOut: join(folder, 'held-out.jsonl') },
    base: { kind: 'tiny' },
    warmStart: {
      examples: join(folder, 'examples.jsonl'),
      steps: warmStartSteps,
      learningRate: 6e-3,
      warmupSteps: 20,
    },
    questions: 4,
    groupSize: 16,
    minFormatRate: 0,
    window: 16,
    policy: { baseUrl, prompt: 'compact', maxPromptTokens: 256, maxOutputTokens: 160 },
    ...training,
    trainer: {
      taskQueue: trainerQueue,
      device: 'cpu',
      precision: 'float32',
      loss: { name: 'dapo', epsilonHigh: 0.28 },
      optimizer: { learningRate: 1e-3, schedule: 'constant', warmupSteps: 4 },
      microBatch: 64,
      iterations: 2,
      ...training.trainer,
    },
  };
}
