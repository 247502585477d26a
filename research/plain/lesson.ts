import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { RunWorker } from '../../src/protocol/cards';
import {
  type Checkpoint,
  type InitRequest,
  type TrainerMessage,
  trainerMessages,
  type UpdateRequest,
  type WarmStartRequest,
} from '../../src/training/trainer-contract';
import { needProcesses, runPython } from '../support/programs';
import { workersFor } from './notes';
import type { Recipe } from './recipe';

/** A policy server, and the world of a recipe that its policies write plans for. */
export interface Desk {
  readonly recipe: Recipe;
  readonly seed: number;
  /** Base URL of the policy server, ending in `/v1`. */
  readonly policyUrl: string;
}

/** One policy that learns the world of its recipe. */
export interface Lesson extends Desk {
  /** All workers that groups draw from. */
  readonly workers: readonly RunWorker[];
  readonly trainRun: string;
  readonly steps: StepServer;
  /** Folder for files that the trainer reads. */
  readonly folder: string;
}

/** Facts a policy server needs to sample a checkpoint. */
export type Sampled = Pick<Checkpoint, 'trainRun' | 'name' | 'folder' | 'tokenizerSha256' | 'vocabulary'>;

/** A lesson with processes of its own. */
export interface OpenLesson extends Lesson {
  /** Aborted when one of them ends unexpectedly, with an error that says which and how. */
  readonly lost: AbortSignal;
  close(): Promise<void>;
}

/** @param root folder of all checkpoints; a warm start made there earlier is reused */
export async function openLesson(recipe: Recipe, seed: number, root: string): Promise<OpenLesson> {
  const trainRun = `plain-${recipe.world.name}-${seed}-${Date.now().toString(36)}`;
  const folder = join(root, trainRun);
  await mkdir(folder, { recursive: true });
  const { lost, need } = needProcesses(folder);
  const server = need('policy server', await runPython('policy_server', ['--port', '0']));
  const steps = await startStepServer(root);
  const { url } = z.object({ url: z.string() }).parse(server.ready);
  return {
    recipe,
    seed,
    trainRun,
    workers: workersFor(recipe, seed),
    steps,
    policyUrl: `${url}/v1`,
    folder,
    lost,
    close: async () => {
      await Promise.all([steps.close(), server.stop()]);
    },
  };
}

/** The trainer's own steps without Temporal: one at a time, each in its own process. */
export interface StepServer {
  /** @param texts file of texts for a tokenizer, if one is made */
  init(request: InitRequest, texts?: string): Promise<TrainerMessage<'checkpointResult'>>;
  warmStart(request: WarmStartRequest, examples: string): Promise<TrainerMessage<'warmStartResult'>>;
  update(request: UpdateRequest, batch: string): Promise<TrainerMessage<'updateResult'>>;
  close(): Promise<void>;
}

const answerSchema = z.object({
  result: z.unknown().optional(),
  error: z.object({ type: z.string(), message: z.string() }).optional(),
});

/** @param root folder of all checkpoints */
export async function startStepServer(root: string): Promise<StepServer> {
  const program = await runPython('bench/serve_steps.py');
  let id = 0;
  const perform = async <Result>(
    job: string,
    request: object,
    files: Readonly<Record<string, string>>,
    schema: z.ZodType<Result>,
  ): Promise<Result> => {
    program.tell(JSON.stringify({ id: (id += 1), job, root, request, files }));
    const { error, result } = answerSchema.parse(await program.nextMessage());
    if (error) throw new Error(`${error.type}: ${error.message}`);
    return schema.parse(result);
  };
  // No store is involved: the policy server loads a folder in place.
  const inPlace = <Made extends { readonly checkpoint: Checkpoint }>(made: Made): Made => ({
    ...made,
    checkpoint: { ...made.checkpoint, folder: join(root, made.checkpoint.folder) },
  });
  return {
    init: async (request, texts) =>
      inPlace(
        await perform(
          'init',
          request,
          texts === undefined ? {} : { texts },
          trainerMessages.checkpointResult,
        ),
      ),
    warmStart: async (request, examples) =>
      inPlace(await perform('warmStart', request, { examples }, trainerMessages.warmStartResult)),
    update: async (request, batch) =>
      inPlace(await perform('update', request, { batch }, trainerMessages.updateResult)),
    close: () => program.stop(),
  };
}

/** A file for the trainer, and its reference in a request. */
export interface HandedOver {
  readonly path: string;
  readonly stored: { readonly key: string; readonly sha256: string };
}

export async function handOver(folder: string, key: string, content: string | Buffer): Promise<HandedOver> {
  const path = join(folder, key);
  await writeFile(path, content);
  return { path, stored: { key, sha256: createHash('sha256').update(content).digest('hex') } };
}
