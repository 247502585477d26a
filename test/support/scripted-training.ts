import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toJsonLines } from '../../research/world/questions';
import { type NightProgress, TrainingClient } from '../../src/training';
import { type ConfigInput, renderPlan } from '../../src';
import type { TrainingInput } from '../../src/training/config/schema';
import type { TrainerActivities } from '../../src/training/trainer-contract';
import { type ScriptedPolicy, startScriptedPolicy } from './scripted-policy';
import { openStage, STAGE_KEY, type Stage, type StageOptions, step } from './stage';
import { standInTrainer } from './stand-in-trainer';
import { testTaskQueue } from './temporal';
import { TestWorker } from './test-worker';

/**
 * Whole nights without a model, in a second each: the real workflows and activities, a scripted policy server, and a
 * trainer that learns nothing. Worker `a` is always right, and `b` never.
 */
export interface ScriptedTraining extends Stage {
  readonly trainRun: string;
  readonly training: TrainingClient;
  readonly policy: ScriptedPolicy;
  /** Activities of the trainer; a test may replace any of them. */
  readonly trainer: TrainerActivities;
  /** Task queue of the trainer. */
  readonly trainerQueue: string;
  /** Result of the night under way, or of the last one. */
  result(): Promise<NightProgress>;
  /** Trains a night to its end. */
  train(date?: string): Promise<NightProgress>;
}

export interface ScriptedTrainingOptions extends Pick<StageOptions, 'address'> {
  /** Overrides the usual training settings. */
  readonly training?: TrainingInput;
  readonly limits?: ConfigInput['limits'];
  /** Heartbeat timeout of activities; a cancellation arrives within half of it. Default: 5 s. */
  readonly heartbeat?: string;
  /** Number of held-out questions; the gate needs five. Default: one. */
  readonly heldOut?: number;
  /** Overrides fields of every question. */
  readonly question?: Readonly<Record<string, unknown>>;
  /** Model that judges answers; default: none. */
  readonly verifier?: string;
  /** Default: a unique name. */
  readonly trainRun?: string;
}

const WORKERS = ['a', 'b', 'c'];
const TRAIN_QUESTIONS = 8;
const RIGHT = '42';
const WRONG = '41';

/** Two steps on one example. */
export const LESSON = {
  name: 'warm',
  examples: [{ prompt: 'What is 6 times 7?', completion: '42' }],
  steps: 2,
  batch: 2,
  learningRate: 1e-3,
  warmupSteps: 0,
  weights: 'tuned' as const,
};

/** Replies of a policy. */
export const REPLIES = {
  right: renderPlan({ steps: [step('a', 'Answer it.')] }, WORKERS),
  wrong: renderPlan({ steps: [step('b', 'Answer it.')] }, WORKERS),
  /** Right, after two steps. */
  long: renderPlan({ steps: [step('b', 'Answer it.'), step('a', 'Check it.', [0])] }, WORKERS),
  /** Accepts the present answer. */
  accept: 'model_id = []\nsubtasks = []\naccess_list = []',
  none: 'I would ask somebody.',
} as const;

export async function openScriptedTraining(options: ScriptedTrainingOptions = {}): Promise<ScriptedTraining> {
  const { training = {}, heldOut = 1, question = {}, limits = {}, heartbeat = '5s', address } = options;
  const { verifier, trainRun = `run-${randomUUID()}` } = options;
  const folder = await mkdtemp(join(tmpdir(), 'questions-'));
  await writeQuestions(folder, heldOut, question);
  const policy = await startScriptedPolicy();
  const trainer = standInTrainer((model) => policy.known.add(model));
  const trainerQueue = testTaskQueue();
  const usual = trainingOf(folder, policy.baseUrl);
  const stage = await openStage({
    workers: WORKERS,
    address,
    configure: (config, url) => ({
      ...config,
      ...(verifier !== undefined && { verifier: verifierAt(url, verifier) }),
      limits: { ...config.limits, ...limits },
      temporal: { heartbeat },
      training: {
        ...usual,
        run: trainRun,
        ...training,
        policy: { ...usual.policy, ...training.policy },
        trainer: { ...training.trainer, taskQueue: trainerQueue },
      },
    }),
  });
  stage.providers.answer('a', RIGHT);
  stage.providers.answer('b', WRONG);
  stage.providers.answer('conductor', REPLIES.wrong);
  // In training samples (temperature 1) every other reply is right; otherwise all are, except the base checkpoint's.
  policy.writeEach(({ model, temperature }, place) => {
    const isRight = temperature === 1 ? place % 2 === 0 : model !== `${trainRun}-base`;
    return isRight ? REPLIES.right : REPLIES.wrong;
  });
  const client = new TrainingClient({ client: stage.temporal.client, taskQueue: stage.taskQueue });
  const result = () =>
    stage.temporal.client.workflow.getHandle(`train-${trainRun}`).result() as Promise<NightProgress>;
  return {
    ...stage,
    trainRun,
    policy,
    trainer,
    trainerQueue,
    training: client,
    result,
    train: async (date = '2026-01-10') => {
      await client.start({ trainRun, date });
      return result();
    },
    whileWorking: async (work, workerOptions = {}) => {
      const { identity } = workerOptions;
      // Core rejects an `undefined` identity.
      const worker = await TestWorker.create({
        connection: stage.temporal.nativeConnection,
        taskQueue: trainerQueue,
        activities: asTheyAre(trainer),
        ...(identity !== undefined && { identity }),
      });
      return worker.runUntil(() => stage.whileWorking(work, workerOptions));
    },
    close: async () => {
      await policy.close();
      await stage.close();
      await rm(folder, { recursive: true });
    },
  };
}

function verifierAt(url: string, model: string): ConfigInput['verifier'] {
  const baseUrl = `${url}/v1`;
  return { provider: 'openai', model, baseUrl, apiKeyEnv: STAGE_KEY, price: { input: 1, output: 2 } };
}

/** Wraps the trainer's activities, so that a test can replace one after the worker was created. */
function asTheyAre(trainer: TrainerActivities): object {
  const names = Object.keys(trainer) as (keyof TrainerActivities)[];
  return Object.fromEntries(names.map((name) => [name, (request: never) => trainer[name](request)]));
}

const TRAIN = 'train.jsonl';
const HELD_OUT = 'held-out.jsonl';

async function writeQuestions(folder: string, heldOut: number, fields: object): Promise<void> {
  for (const [file, count] of [
    [TRAIN, TRAIN_QUESTIONS],
    [HELD_OUT, heldOut],
  ] as const) {
    const rows = Array.from({ length: count }, (_, index) => ({
      id: `${file}-${index}`,
      question: `What is 6 times 7, in ${file} the ${index + 1}. time?`,
      grader: 'number',
      answer: RIGHT,
      ...fields,
    }));
    await writeFile(join(folder, file), toJsonLines(rows));
  }
}

function trainingOf(folder: string, baseUrl: string): TrainingInput {
  return {
    data: { train: join(folder, TRAIN), heldOut: join(folder, HELD_OUT) },
    artifacts: join(folder, 'artifacts'),
    base: { kind: 'tiny' },
    cycles: 1,
    totalCycles: 10,
    questions: 1,
    groupSize: 2,
    minFormatRate: 0,
    maxDraws: 1,
    gate: { samples: 1 },
    policy: { baseUrl, prompt: 'compact', maxPromptTokens: 4096 },
  };
}
