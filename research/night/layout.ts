import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import type { TrainableInput } from '../../src/training/config/schema';
import { smollm2Folder } from '../smollm2/unpack';
import { freePort, portOfWorkers } from '../specialists/night';
import { type Lesson, trainingOf, writeLesson } from '../support/lesson';
import { trainerEnv, trainerPython } from '../support/programs';
import { SMALL_WORLD, type World } from '../world/world';

/** What a night learns, and on what. */
export interface NightWish {
  readonly seed: number;
  /** What samples plans: vLLM, or our server for CPUs. */
  readonly serve: 'vllm' | 'cpu';
  readonly device: 'cpu' | 'cuda';
  /** `tiny`, `smollm2`, or the folder of a model that knows ChatML. */
  readonly model: string;
  /** An adapter, or all weights. */
  readonly tuning: 'lora' | 'full';
  /** Per night. */
  readonly cycles: number;
}

export const NIGHT_WORLD: World = SMALL_WORLD;

const CONFIG = 'conductor.yaml';
const LONGEST_PROMPT = 256;
const LONGEST_PLAN = 160;

/** Writes a folder's files before its first night; returns the port on which it expects the world. */
export async function layOut(folder: string, wish: NightWish): Promise<number> {
  const file = join(folder, CONFIG);
  if (existsSync(file)) return portOfWorkers(file);
  await mkdir(folder, { recursive: true });
  await writeLesson(lessonOf(wish, ''), folder);
  const lesson = lessonOf(wish, await modelFolder(folder, wish));
  const [worldPort, policyPort] = [await freePort(), await freePort()];
  const baseUrl = `http://127.0.0.1:${policyPort}/v1`;
  const config = configOf(lesson, extentOf(wish), {
    folder,
    worldUrl: `http://127.0.0.1:${worldPort}/v1`,
    baseUrl,
  });
  // Written last, since its presence marks the others as complete.
  await writeFile(file, stringify(config));
  return worldPort;
}

/** How much is learned: before the first night, from examples, and in each group of a cycle. */
interface Extent {
  readonly steps: number;
  readonly batch: number;
  readonly learningRate: number;
  readonly groupSize: number;
}

const USUAL: Extent = { steps: 40, batch: 8, learningRate: 5e-4, groupSize: 8 };

/** A language model takes a CPU more than a second for each reply that it learns from. */
const SHORT: Extent = { steps: 16, batch: 2, learningRate: 1e-3, groupSize: 4 };

const extentOf = ({ device, model }: NightWish): Extent =>
  device === 'cpu' && model !== 'tiny' ? SHORT : USUAL;

const ADAPTER = { kind: 'lora', rank: 16, alpha: 32, targets: 'all-linear' } as const;

function lessonOf(wish: NightWish, path: string): Lesson {
  const { seed, serve, device, tuning, cycles } = wish;
  const { steps, groupSize } = extentOf(wish);
  return {
    world: NIGHT_WORLD,
    seed,
    warmStartSteps: steps,
    training: {
      run: 'night',
      base: { kind: 'folder', path },
      cycles,
      totalCycles: 1000,
      groupSize,
      gate: { samples: 1 },
      policy: {
        baseUrl: '',
        ...(serve === 'vllm' && { serve: { engine: 'vllm' } }),
        prompt: 'compact',
        maxPromptTokens: LONGEST_PROMPT,
        maxOutputTokens: LONGEST_PLAN,
      },
      trainer: {
        device,
        precision: device === 'cpu' ? 'float32' : 'bfloat16',
        tuning: tuning === 'lora' ? ADAPTER : { kind: 'full' },
        microBatch: 8,
        iterations: 1,
      },
    },
  };
}

interface Places {
  readonly folder: string;
  readonly worldUrl: string;
  readonly baseUrl: string;
}

function configOf(
  lesson: Lesson,
  { batch, learningRate }: Extent,
  { folder, worldUrl, baseUrl }: Places,
): TrainableInput {
  const training = trainingOf(lesson, { folder, baseUrl, trainerQueue: 'night-trainer' });
  const workers = lesson.world.workers.map(({ id, price }) => ({
    id,
    provider: 'openai' as const,
    model: id,
    baseUrl: worldUrl,
    price,
  }));
  return {
    conductor: { provider: 'policy' },
    workers,
    limits: { steps: lesson.world.maxSteps },
    training: {
      ...training,
      warmStart: { ...training.warmStart, batch, learningRate, warmupSteps: 4 },
      policy: { ...training.policy, baseUrl },
    },
  };
}

async function modelFolder(folder: string, { model, seed }: NightWish): Promise<string> {
  if (model === 'smollm2') return smollm2Folder(console.log);
  if (model !== 'tiny') return resolve(model);
  const path = join(folder, 'model');
  const given = [join(__dirname, 'tiny_base.py'), `${seed}`, join(folder, 'examples.jsonl'), path];
  await promisify(execFile)(await trainerPython(), given, { env: trainerEnv() });
  return path;
}
