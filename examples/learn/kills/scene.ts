import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { FileStore } from '../../../src/store/file-store';
import type { RequestRecord } from '../../../src/testing';
import { TrainingClient } from '../../../src/training/client/training-client';
import type { NightProgress } from '../../../src/training/progress';
import type { Keeping } from '../../../test/chaos/evidence';
import { KillableServer } from '../../../test/chaos/killable-server';
import { LogFollower } from '../../../test/chaos/log-follower';
import type { WorkerSetting } from '../../../test/chaos/programs/worker';
import { type ChildProgram, runChild } from '../../../test/support/child-program';
import { type Lesson, TRAIN_RUN } from '../../../test/support/lesson';
import { type Neighbour, openSurroundings } from '../stack/surroundings';
import { type CycleFacts, readCycles } from './read-cycles';

const WORKER = join(__dirname, '../../../test/chaos/programs/worker.ts');
const TASK_QUEUE = 'night';

/** Whoever may be killed in a night. */
export type Victim = Neighbour | 'worker' | 'server';

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
  const surroundings = await openSurroundings(lesson, folder);
  const server = await KillableServer.start(folder);
  const store = join(folder, 'store');
  const witness = join(folder, 'witness.jsonl');
  const { address } = server;
  const setting = { address, bundle, config: surroundings.config, taskQueue: TASK_QUEUE, store, witness };
  let [worker] = await Promise.all([startWorker(setting), surroundings.startTrainer(address)]);

  const kill = async (victim: Victim): Promise<void> => {
    if (victim === 'server') return server.kill();
    if (victim !== 'worker') return surroundings.kill(victim);
    await worker.kill();
    worker = await startWorker(setting);
  };
  return {
    kill,
    play: async (onRequest) => {
      let count = 0;
      const log = new LogFollower(surroundings.requestLog, () => {
        count += 1;
        onRequest(count);
      });
      const progress = await playNight(address);
      const facts = {
        progress,
        cycles: await readCycles(new FileStore(store), TRAIN_RUN),
        requests: log.requests(),
        keepings: await readLines<Keeping>(witness),
      };
      log.close();
      return facts;
    },
    close: async () => {
      await Promise.all([worker.kill(), surroundings.close()]);
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startWorker(setting: WorkerSetting): Promise<ChildProgram> {
  const worker = runChild(WORKER, [JSON.stringify(setting)], process.env);
  await worker.nextMessage();
  return worker;
}

async function playNight(address: string): Promise<NightProgress> {
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection });
    const training = new TrainingClient({ client, taskQueue: TASK_QUEUE });
    const { id } = await training.start({ trainRun: TRAIN_RUN, date: '2026-01-10' });
    return (await client.workflow.getHandle(id).result()) as NightProgress;
  } finally {
    await connection.close();
  }
}

async function readLines<T>(file: string): Promise<T[]> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}
