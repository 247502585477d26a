import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TrainingClient } from '../../src/client/training/training-client';
import { conductorMessages } from '../../src/plan/conductor-prompt';
import { renderChatml } from '../../src/policy/chatml';
import type { TrainingInput } from '../../src/pool/training-schema';
import {
  findOptimum,
  questionSet,
  simulateWorld,
  toJsonLines,
  warmStartExamples,
  type World,
} from '../../src/testing/world';
import { runPython, type PythonProgram } from './python-program';
import { openStage, type Stage } from './stage';
import { testTaskQueue } from './temporal';

/** A world, and how long and by what a policy learns in it. */
export interface Lesson {
  readonly world: World;
  readonly seed: number;
  /** Supervised steps before the first cycle. */
  readonly warmStartSteps: number;
  /** Over what holds for every lesson. */
  readonly training?: TrainingInput;
}

/** Everything that a night in a simulated world needs: a stage, a policy server and a trainer, all its own. */
export interface TrainingStage extends Stage {
  readonly trainRun: string;
  readonly training: TrainingClient;
  readonly policyServer: PythonProgram;
  readonly trainer: PythonProgram;
}

export async function openTrainingStage(lesson: Lesson): Promise<TrainingStage> {
  const folder = await mkdtemp(join(tmpdir(), 'lesson-'));
  await writeData(lesson, folder);
  const policyServer = await runPython('policy_server', ['--port', '0']);
  const { url } = policyServer.ready as { readonly url: string };
  const trainerQueue = testTaskQueue();
  const stage = await openStage({
    workers: lesson.world.workers.map(({ id }) => id),
    simulation: simulateWorld(lesson),
    configure: (config) => ({
      ...config,
      training: trainingOf(lesson, { folder, baseUrl: `${url}/v1`, trainerQueue }),
    }),
  });
  const checkpoints = join(folder, 'checkpoints');
  const trainer = await runPython(
    'worker',
    ['--store', stage.store.url, '--checkpoints', checkpoints, '--task-queue', trainerQueue],
    { TEMPORAL_ADDRESS: stage.temporal.address },
  );
  return {
    ...stage,
    trainRun: TRAIN_RUN,
    training: new TrainingClient({ client: stage.temporal.client, taskQueue: stage.taskQueue }),
    policyServer,
    trainer,
    close: async () => {
      await Promise.all([trainer.stop(), policyServer.stop()]);
      await stage.close();
      await rm(folder, { recursive: true });
    },
  };
}

const TRAIN_RUN = 'lesson';
const TRAIN_QUESTIONS = 256;
const HELD_OUT_QUESTIONS = 32;
const EXAMPLES = 2000;

async function writeData({ world, seed }: Lesson, folder: string): Promise<void> {
  const train = questionSet(world, 'train', TRAIN_QUESTIONS, seed);
  const heldOut = questionSet(world, 'heldOut', HELD_OUT_QUESTIONS, seed);
  const { workers, maxSteps } = world;
  const promptFor = (question: string): string =>
    renderChatml(
      conductorMessages({
        style: 'compact',
        question,
        workers: workers.map(({ id }) => ({ id, notes: null })),
        describe: 'ordinals',
        maxSteps,
        format: 'lists',
        repairs: [],
      }),
    );
  const examples = warmStartExamples({
    world,
    optimum: findOptimum(world),
    questions: train,
    count: EXAMPLES,
    seed,
    promptFor,
  });
  const files = { 'train.jsonl': train, 'held-out.jsonl': heldOut, 'examples.jsonl': examples };
  for (const [name, rows] of Object.entries(files)) await writeFile(join(folder, name), toJsonLines(rows));
}

interface Place {
  readonly folder: string;
  readonly baseUrl: string;
  readonly trainerQueue: string;
}

/** What every lesson begins with; the figures are the recipe of the small world. */
function trainingOf(
  { seed, warmStartSteps, training = {} }: Lesson,
  { folder, baseUrl, trainerQueue }: Place,
): TrainingInput {
  return {
    run: TRAIN_RUN,
    seed,
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
    window: 16,
    policy: { baseUrl, prompt: 'compact', maxPromptTokens: 256, maxOutputTokens: 128 },
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
