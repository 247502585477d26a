import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { TrainingClient } from '../../../src/client/training/training-client';
import type { ConfigInput } from '../../../src/pool/config-schema';
import { FileStore } from '../../../src/store/file-store';
import type { RequestRecord } from '../../../src/testing';
import type { NightProgress } from '../../../src/training/progress';
import type { Keeping } from '../../chaos/evidence';
import { KillableServer } from '../../chaos/killable-server';
import { LogFollower } from '../../chaos/log-follower';
import { runChild, type ChildProgram } from '../../support/child-program';
import { trainingOf, TRAIN_RUN, writeLesson, type Lesson } from '../../support/lesson';
import { runPython, type PythonProgram } from '../../support/python-program';
import { readCycles, type CycleFacts } from './read-cycles';
import { stepOf } from './step-of';

const WORKER = join(__dirname, '../../chaos/programs/worker.ts');
const WORLD = join(__dirname, '../../../src/testing/world/serve.ts');

/** Whoever may be killed in a night. */
export type Victim = 'worker' | 'server' | 'trainer' | 'step' | 'policy server';

/** What a night came to, and what was asked of the world's workers for it. */
export interface NightFacts {
  readonly progress: NightProgress;
  readonly cycles: readonly CycleFacts[];
  readonly requests: readonly RequestRecord[];
  /** Answers as they were kept. */
  readonly keepings: readonly Keeping[];
}

/** The processes of one night, each killed and started again at the same place. */
export interface Scene {
  kill(victim: Victim): Promise<void>;
  /** @param onRequest is told how many requests have come to the world's workers */
  play(onRequest: (count: number) => void): Promise<NightFacts>;
  close(): Promise<void>;
}

/** Starts everything that a night needs, in a folder of its own. */
export async function openScene(lesson: Lesson, bundle: string): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'night-'));
  const place = (name: string): string => join(folder, name);
  await writeLesson(lesson, folder);
  const server = await KillableServer.start(folder);
  const worldArguments = [
    '--world',
    lesson.world.name,
    '--seed',
    `${lesson.seed}`,
    '--log',
    place('log.jsonl'),
  ];
  const world = runChild(WORLD, worldArguments, {});
  const worldUrl = await world.nextLine();
  let policyServer = await runPython('policy_server', ['--port', '0']);
  const { url } = policyServer.ready as { readonly url: string };
  const config = configOf(lesson, { folder, worldUrl, policyUrl: url });

  const startWorker = async (): Promise<ChildProgram> => {
    const taskQueue = 'night';
    const setting = {
      address: server.address,
      bundle,
      config,
      taskQueue,
      store: place('store'),
      witness: place('witness.jsonl'),
    };
    const child = runChild(WORKER, [JSON.stringify(setting)], process.env);
    await child.nextMessage();
    return child;
  };
  const startTrainer = (): Promise<PythonProgram> =>
    runPython(
      'worker',
      [
        '--store',
        `file:${place('store')}`,
        '--checkpoints',
        place('checkpoints'),
        '--task-queue',
        TRAINER_QUEUE,
      ],
      { TEMPORAL_ADDRESS: server.address },
    );
  let [worker, trainer] = await Promise.all([startWorker(), startTrainer()]);

  const strikes: Readonly<Record<Victim, () => Promise<void>>> = {
    server: () => server.kill(),
    worker: async () => {
      await worker.kill();
      worker = await startWorker();
    },
    trainer: async () => {
      await trainer.kill();
      trainer = await startTrainer();
    },
    'policy server': async () => {
      await policyServer.kill();
      policyServer = await runPython('policy_server', ['--port', new URL(url).port]);
    },
    step: async () => {
      process.kill(await whenSteps(trainer.pid), 'SIGKILL');
    },
  };
  return {
    kill: (victim) => strikes[victim](),
    play: async (onRequest) => {
      let count = 0;
      const log = new LogFollower(place('log.jsonl'), () => {
        count += 1;
        onRequest(count);
      });
      const progress = await playNight(server.address);
      const store = new FileStore(place('store'));
      const cycles = await readCycles(store, TRAIN_RUN);
      const facts = {
        progress,
        cycles,
        requests: log.requests(),
        keepings: await readLines<Keeping>(place('witness.jsonl')),
      };
      log.close();
      return facts;
    },
    close: async () => {
      await Promise.all([worker.kill(), trainer.stop(), policyServer.stop(), world.kill()]);
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const TRAINER_QUEUE = 'night-trainer';

async function playNight(address: string): Promise<NightProgress> {
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection });
    const training = new TrainingClient({ client, taskQueue: 'night' });
    const { id } = await training.start({ trainRun: TRAIN_RUN, date: '2026-01-10' });
    return (await client.workflow.getHandle(id).result()) as NightProgress;
  } finally {
    await connection.close();
  }
}

function configOf(
  lesson: Lesson,
  { folder, worldUrl, policyUrl }: { folder: string; worldUrl: string; policyUrl: string },
): ConfigInput {
  return {
    conductor: { provider: 'policy' },
    workers: lesson.world.workers.map(({ id, price }) => ({
      id,
      provider: 'openai',
      model: id,
      baseUrl: `${worldUrl}/v1`,
      price,
    })),
    store: `file:${join(folder, 'store')}`,
    limits: { costUsd: null },
    temporal: { heartbeat: '5s' },
    training: trainingOf(lesson, { folder, baseUrl: `${policyUrl}/v1`, trainerQueue: TRAINER_QUEUE }),
  };
}

/** The process of the trainer's next step. */
async function whenSteps(trainer: number): Promise<number> {
  for (;;) {
    const step = stepOf(trainer);
    if (step !== null) return step;
    await setImmediate();
  }
}

async function readLines<T>(file: string): Promise<T[]> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}
