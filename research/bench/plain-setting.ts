import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OpenAI } from 'openai';
import { z } from 'zod';
import { callIdOf } from '../../src/activities/send-request';
import { trainingConfigSchema } from '../../src/training/config/schema';
import type { ModelCard } from '../../src/protocol/cards';
import { readQuestions } from '../../src/training/client';
import { sortByTopic } from '../../src/training/draw';
import { resolveTraining, trainingOf, type TrainingSettings } from '../../src/training/config';
import { PolicyClient, type ServedPolicy } from '../../src/training/policy/client';
import { type TrainerConfig, trainerConfigSchema } from '../../src/training/trainer-contract';
import type { Town } from '../demo/town';
import { type Sampled, startStepServer, type StepServer } from '../plain/lesson';
import { TRAIN_RUN } from '../support/lesson';
import { SMALL_WORLD, type World } from '../world/world';
import type { Message } from '../../src/plan/plan';
import type { Question } from '../../src/grading/question';
import { type CheckpointRef, type RolloutId, rolloutIdentity } from '../../src/training/names';

/** Everything a loop without Temporal needs: settings, questions, workers, policy server and a trainer of its own. */
export interface PlainSetting {
  readonly settings: TrainingSettings;
  /** Settings that the trainer receives. */
  readonly config: TrainerConfig;
  readonly world: World;
  /** Sorted by topic. */
  readonly questions: readonly Question[];
  /** Number of questions per topic. */
  readonly topics: readonly number[];
  readonly workers: readonly ModelCard[];
  readonly askWorker: AskWorker;
  readonly policyServer: PolicyClient;
  readonly steps: StepServer;
  /** Folder of its checkpoints: copies of those that the night began with, and its own. */
  readonly root: string;
}

/** @param folder of the town, after a night */
export async function openPlainSetting({ config, policyUrl }: Town, folder: string): Promise<PlainSetting> {
  const resolved = trainingConfigSchema.parse(config);
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
    ...sortByTopic(train),
    workers,
    askWorker: createAskWorker(workers[0]?.baseUrl ?? ''),
    policyServer: new PolicyClient(policyUrl),
    steps: await startStepServer(root),
    root,
  };
}

/** Name of the checkpoint made from examples. */
const FIRST = 'warm';

const resultSchema = z.object({ folder: z.string(), tokenizerSha256: z.string(), vocabulary: z.int() });

/** A checkpoint, and how to ask the policy server for it. */
export interface PlainPolicy {
  readonly checkpoint: CheckpointRef;
  readonly tokenizerSha256: string;
  readonly served: ServedPolicy;
}

/** Reads the checkpoint that the night began with. */
export async function firstPolicy(setting: PlainSetting): Promise<PlainPolicy> {
  const result = await readFile(join(setting.root, TRAIN_RUN, FIRST, 'RESULT.json'), 'utf8');
  const { folder, ...tokens } = resultSchema.parse(JSON.parse(result));
  const at = join(setting.root, folder);
  return toPolicy(setting, { trainRun: TRAIN_RUN, name: FIRST, folder: at, ...tokens });
}

/** Returns a checkpoint as a policy, under a model name that no night uses. */
export function toPolicy(
  { settings: { policy } }: PlainSetting,
  { trainRun, name, folder, tokenizerSha256, vocabulary }: Sampled,
): PlainPolicy {
  const { maxPromptTokens, baseUrl } = policy;
  return {
    checkpoint: { trainRun, name },
    tokenizerSha256,
    served: { model: `plain-${name}`, folder, vocabulary, maxPromptTokens, baseUrl, chat: 'chatml' },
  };
}

/** One call of one worker. */
export interface PlainCall {
  readonly card: ModelCard;
  readonly messages: readonly Message[];
  readonly rollout: RolloutId;
  readonly step: number;
}

/** Asks a worker with one plain request, whose answer is not stored. */
export type AskWorker = (call: PlainCall) => Promise<string>;

function createAskWorker(baseURL: string): AskWorker {
  const openai = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 });
  return async (call) => {
    const reply = await openai.chat.completions.create(
      {
        model: call.card.model,
        messages: call.messages.map(({ role, text }) => ({ role, content: text })),
      },
      { headers: { 'X-Client-Request-Id': nameOf(call) } },
    );
    return reply.choices[0]?.message.content ?? '';
  };
}

/**
 * Returns the product's own id of the call. The simulated world derives the reply from it, so that both loops get the
 * same answers and learn the same weights.
 */
function nameOf({ card, messages, rollout, step }: PlainCall): string {
  const { id: worker, maxOutputTokens } = card;
  const identity = `${rolloutIdentity(rollout)}/0`;
  return callIdOf({ activityId: '' }, { card, identity, round: 0, step, worker, messages, maxOutputTokens });
}
