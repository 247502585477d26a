import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { configSchema } from '../../../src/config/schema';
import type { ModelCard } from '../../../src/protocol/cards';
import { readQuestions } from '../../../src/training/activities/questions';
import { resolveTraining, trainingOf } from '../../../src/training/config/resolve';
import type { CheckpointRef } from '../../../src/training/manifest';
import { type AskPolicy, createAskPolicy } from '../../../src/training/policy/ask';
import { PolicyClient, type ServedPolicy } from '../../../src/training/policy/client';
import type { Question } from '../../../src/training/question';
import type { TrainingSettings } from '../../../src/training/settings';
import { type TrainerConfig, trainerConfigSchema } from '../../../src/training/trainer-contract';
import { TRAIN_RUN } from '../../../test/support/lesson';
import type { Town } from '../demo/town';
import type { Sampled } from '../plain/lesson';
import { startStepServer, type StepServer } from '../plain/step-server';
import type { World } from '../world/world';
import { SMALL_WORLD } from '../world/worlds';
import { type AskWorker, createAskWorker } from './ask-worker';

/** What a loop without Temporal has: the settings, questions, workers and policy server of a town, and its own trainer. */
export interface PlainSetting {
  readonly settings: TrainingSettings;
  /** What the trainer is told of them. */
  readonly config: TrainerConfig;
  readonly world: World;
  readonly questions: readonly Question[];
  readonly workers: readonly ModelCard[];
  readonly askPolicy: AskPolicy;
  readonly askWorker: AskWorker;
  readonly policyServer: PolicyClient;
  readonly steps: StepServer;
  /** Folder of its checkpoints: a copy of what the night began with, and what it makes of that. */
  readonly root: string;
}

/** @param folder of the town, after a night */
export async function openPlainSetting({ config, policyUrl }: Town, folder: string): Promise<PlainSetting> {
  const resolved = configSchema.parse(config);
  const settings = resolveTraining(resolved);
  const workers = settings.run.workers.filter((worker) => worker.kind === 'model');
  const { train } = await readQuestions(trainingOf(resolved).data);
  const root = join(folder, 'plain');
  for (const name of ['base', FIRST]) {
    await cp(join(folder, 'checkpoints', TRAIN_RUN, name), join(root, TRAIN_RUN, name), { recursive: true });
  }
  return {
    settings,
    config: z.object(trainerConfigSchema.shape).parse(settings.trainer),
    world: SMALL_WORLD,
    questions: train,
    workers,
    askPolicy: createAskPolicy(),
    askWorker: createAskWorker(workers[0]?.baseUrl ?? ''),
    policyServer: new PolicyClient(policyUrl),
    steps: await startStepServer(root),
    root,
  };
}

/** What a night begins with where examples are configured. */
const FIRST = 'warm';

const resultSchema = z.object({ folder: z.string(), tokenizerSha256: z.string(), vocabulary: z.int() });

/** A checkpoint, and how to ask the policy server for it. */
export interface PlainPolicy {
  readonly checkpoint: CheckpointRef;
  readonly served: ServedPolicy;
}

/** The checkpoint that the night began with. */
export async function firstPolicy(setting: PlainSetting): Promise<PlainPolicy> {
  const result = await readFile(join(setting.root, TRAIN_RUN, FIRST, 'RESULT.json'), 'utf8');
  const { folder, ...tokens } = resultSchema.parse(JSON.parse(result));
  const path = join(setting.root, folder);
  return toPolicy(setting, { trainRun: TRAIN_RUN, name: FIRST, path, ...tokens });
}

/** The policy server knows it by a name that no night gives. */
export function toPolicy(
  { settings: { policy } }: PlainSetting,
  { trainRun, name, path, tokenizerSha256, vocabulary }: Sampled,
): PlainPolicy {
  const { maxPromptTokens, baseUrl } = policy;
  return {
    checkpoint: { trainRun, name },
    served: {
      model: `plain-${name}`,
      path,
      tokenizerSha256,
      vocabulary,
      maxPromptTokens,
      servers: [baseUrl],
    },
  };
}
