import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { TrainableInput } from '../../src/training/config/schema';
import { type Lesson, trainingOf, writeLesson } from './lesson';
import { needProcesses, type NeededProcesses, type PythonProgram, runChild, runPython } from './programs';

const WORLD = join(__dirname, '../world/serve.ts');
const TRAINER_QUEUE = 'night-trainer';

/** Processes of the surroundings that may be killed. */
export type Neighbour = 'trainer' | 'step' | 'policy server';

/** Everything that nights need beside Temporal and its worker, each in its own process. */
export interface Surroundings {
  /** Folder of all files. */
  readonly folder: string;
  /** Configuration of the worker and the commands. */
  readonly config: TrainableInput;
  /** Base URL of the policy server, ending in `/v1`. */
  readonly policyUrl: string;
  /** File that takes one line for each request to the world's workers. */
  readonly requestLog: string;
  /** Aborted when a needed process ends unexpectedly, with an error that says which and how. */
  readonly lost: AbortSignal;
  /** Adds a process to those needed. */
  readonly need: NeededProcesses['need'];
  /** Starts the trainer beside a Temporal server, once there is one. */
  startTrainer(address: string): Promise<void>;
  /** Ends one by SIGKILL. The trainer and the policy server restart at the same place. */
  kill(neighbour: Neighbour): Promise<void>;
  close(): Promise<void>;
}

export interface SurroundingOptions {
  /** Duration of every call to the world's workers, in milliseconds. */
  readonly delayMs?: number;
  /** Default: a SQLite file in the folder of all files. */
  readonly storeUrl?: string | undefined;
}

/** Starts a lesson's world and a policy server, and writes the lesson's files beside them. */
export async function openSurroundings(
  lesson: Lesson,
  folder: string,
  { delayMs = 0, storeUrl = storeOf(folder) }: SurroundingOptions = {},
): Promise<Surroundings> {
  await writeLesson(lesson, folder);
  const requestLog = join(folder, 'requests.jsonl');
  const served = {
    '--world': lesson.world.name,
    '--seed': `${lesson.seed}`,
    '--delay': `${delayMs}`,
    '--log': requestLog,
  };
  const placesOf = (name: string): string[] => [
    '--artifacts',
    artifactsOf(folder, storeUrl),
    '--checkpoints',
    join(folder, name),
  ];
  const { lost, need } = needProcesses(folder);
  const world = need('simulated world', runChild(WORLD, Object.entries(served).flat(), {}));
  const worldUrl = await world.nextLine();
  const runPolicyServer = async (port: string): Promise<PythonProgram> =>
    need('policy server', await runPython('policy_server', ['--port', port, ...placesOf('served')]));
  let policyServer = await runPolicyServer('0');
  const { url } = policyServer.ready as { readonly url: string };
  const policyUrl = `${url}/v1`;
  let runTrainer: (() => Promise<PythonProgram>) | undefined;
  let trainer: PythonProgram | undefined;

  /** Removes local files, so that a restarted process finds nothing, as on another machine. */
  const forget = (name: string): Promise<void> =>
    rm(join(folder, name), { recursive: true, force: true, maxRetries: 5 });
  const strikes: Readonly<Record<Neighbour, () => Promise<void>>> = {
    trainer: async () => {
      await trainer?.kill();
      await forget('checkpoints');
      trainer = await runTrainer?.();
    },
    'policy server': async () => {
      await policyServer.kill();
      await forget('served');
      policyServer = await runPolicyServer(new URL(url).port);
    },
    step: async () => {
      if (trainer) process.kill(await stepOf(trainer.pid), 'SIGKILL');
    },
  };
  return {
    folder,
    config: configOf(lesson, { folder, worldUrl, policyUrl, storeUrl }),
    policyUrl,
    requestLog,
    lost,
    need,
    startTrainer: async (address) => {
      const { base } = lesson.training ?? {};
      const given = [
        ...placesOf('checkpoints'),
        '--cached',
        '64',
        '--task-queue',
        TRAINER_QUEUE,
        '--allow-server',
        policyUrl,
        ...(base?.kind === 'folder' && base.path !== undefined ? ['--base-root', base.path] : []),
      ];
      const env = { TEMPORAL_ADDRESS: address };
      runTrainer = async () => need('trainer', await runPython('worker', given, env));
      trainer = await runTrainer();
    },
    kill: (neighbour) => strikes[neighbour](),
    close: async () => {
      await Promise.all([trainer?.stop(), policyServer.stop(), world.kill()]);
    },
  };
}

/** Returns the place of artifacts, beside the store. */
function artifactsOf(folder: string, storeUrl: string): string {
  return storeUrl.startsWith('s3:') ? `${storeUrl}/artifacts` : join(folder, 'artifacts');
}

/** Returns the URL of a folder's store. */
function storeOf(folder: string): string {
  return `sqlite:${join(folder, 'store.db')}`;
}

interface Places {
  readonly folder: string;
  readonly worldUrl: string;
  readonly policyUrl: string;
  readonly storeUrl: string;
}

function configOf(lesson: Lesson, { folder, worldUrl, policyUrl, storeUrl }: Places): TrainableInput {
  return {
    conductor: { provider: 'policy' },
    workers: lesson.world.workers.map(({ id, price }) => ({
      id,
      provider: 'openai',
      model: id,
      baseUrl: `${worldUrl}/v1`,
      price,
    })),
    store: storeUrl,
    limits: { steps: lesson.world.maxSteps, costUsd: null },
    temporal: { heartbeat: '5s' },
    training: {
      ...trainingOf(lesson, { folder, baseUrl: policyUrl, trainerQueue: TRAINER_QUEUE }),
      artifacts: artifactsOf(folder, storeUrl),
    },
  };
}

/** Polls for a trainer's next step and returns its pid: a child of the fork server, itself the trainer's child. */
async function stepOf(trainer: number): Promise<number> {
  for (;;) {
    const [step] = childrenOf(trainer).flatMap(childrenOf);
    if (step !== undefined) return step;
    await setImmediate();
  }
}

/** Returns the children of a process, from Linux's /proc. */
export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name, in brackets, may contain any character.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    // The process has ended since the folder was listed.
    return null;
  }
}
