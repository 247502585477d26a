import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { openStore } from '../../src/store/open-store';
import { openFiles, TrainingClient } from '../../src/training/client';
import type { Files, Store } from '../../src/store/store';
import type { RequestRecord } from '../../src/testing';
import { batchKey, metricsFolder } from '../../src/training/store-keys';
import type { CycleMetrics, NightProgress } from '../../src/training/definitions';
import { unlessAborted } from '../../src/runtime/turns';
import { KillableServer } from '../support/killable-server';
import { type Lesson, TRAIN_RUN } from '../support/lesson';
import { LogFollower } from '../support/log-follower';
import { type ChildProgram, runChild } from '../support/programs';
import { type Neighbour, openSurroundings } from '../support/surroundings';
import type { Keeping, RowTime, WorkerSetting } from '../support/worker';

/**
 * Plays a night and kills its processes as planned.
 *
 * @param storeUrl default: a SQLite file in the night's own folder
 */
export async function playNight(
  lesson: Lesson,
  bundle: string,
  kills: readonly PlannedKill[],
  storeUrl?: string,
): Promise<NightFacts> {
  const scene = await openScene(lesson, bundle, storeUrl);
  const planned = new Set(kills);
  let last: Promise<void> = Promise.resolve();
  try {
    const facts = await scene.play((count) => {
      for (const kill of planned) {
        if (kill.request > count) continue;
        planned.delete(kill);
        last = last.then(() => scene.kill(kill.victim));
        // Awaited below; until then, Node must not report it as an unhandled rejection.
        last.catch(() => undefined);
      }
    });
    await last;
    if (planned.size > 0) throw new Error(`${planned.size} kills never came due: plan them earlier.`);
    return facts;
  } finally {
    await scene.close();
  }
}

/** One `kill -9`, due when the world's workers have received `request` requests. */
export interface PlannedKill {
  readonly victim: Victim;
  readonly request: number;
}

const WORKER = join(__dirname, '../support/worker.ts');
const TASK_QUEUE = 'night';

/** Processes that may be killed in a night. */
export type Victim = Neighbour | 'worker' | 'server';

/** Result of a night, and the calls it made to the world's workers. */
export interface NightFacts {
  readonly progress: NightProgress;
  readonly cycles: readonly CycleFacts[];
  readonly requests: readonly RequestRecord[];
  /** Answers and background ids as they were stored. */
  readonly keepings: readonly Keeping[];
}

/** The processes of one night; each that is killed restarts at the same address. */
interface Scene {
  kill(victim: Victim): Promise<void>;
  /** @param onRequest receives the number of requests to the world's workers so far */
  play(onRequest: (count: number) => void): Promise<NightFacts>;
  close(): Promise<void>;
}

/** Starts everything that a night needs in a new folder. */
async function openScene(lesson: Lesson, bundle: string, storeUrl?: string): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'night-'));
  const surroundings = await openSurroundings(lesson, folder, { storeUrl });
  const server = await KillableServer.start(folder);
  const { store = '', training } = surroundings.config;
  const witness = join(folder, 'witness.jsonl');
  const { address } = server;
  const setting = {
    address,
    bundle,
    config: surroundings.config,
    taskQueue: TASK_QUEUE,
    store,
    witness,
  };
  const begin = async (): Promise<ChildProgram> => {
    const program = await startWorker(setting);
    surroundings.need('worker', program);
    return program;
  };
  let [worker] = await Promise.all([begin(), surroundings.startTrainer(address)]);

  const kill = async (victim: Victim): Promise<void> => {
    if (victim === 'server') return server.kill();
    if (victim !== 'worker') return surroundings.kill(victim);
    await worker.kill();
    worker = await begin();
  };
  return {
    kill,
    play: async (onRequest) => {
      let count = 0;
      const log = new LogFollower(surroundings.requestLog, () => {
        count += 1;
        onRequest(count);
      });
      const progress = await unlessAborted(surroundings.lost, trainNight(address));
      const facts = {
        progress,
        cycles: await readCycles(
          openStore(store, folder),
          openFiles(training?.artifacts ?? folder),
          TRAIN_RUN,
        ),
        requests: log.requests(),
        keepings: (await readLines<Keeping | RowTime>(witness)).filter((line) => 'what' in line),
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

async function trainNight(address: string): Promise<NightProgress> {
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

/** Facts of a cycle that must equal those of an undisturbed night. */
interface CycleFacts {
  readonly cycle: number;
  readonly weightsSha256: string | null;
  /** SHA-256 of the stored batch, which is gzipped. */
  readonly batchSha256: string;
  readonly rewardMean: number;
  readonly verdicts: CycleMetrics['verdicts'];
  readonly heldOut: number | null;
}

/** Reads the facts of each cycle of a night. */
async function readCycles(store: Store, artifacts: Files, trainRun: string): Promise<CycleFacts[]> {
  const keys = await store.list(metricsFolder(trainRun));
  return Promise.all(keys.map((key) => readCycle(store, artifacts, trainRun, key)));
}

async function readCycle(store: Store, artifacts: Files, trainRun: string, key: string): Promise<CycleFacts> {
  const { cycle, weightsSha256, rewardMean, verdicts, heldOut } = JSON.parse(
    String(await store.read(key)),
  ) as CycleMetrics;
  const batch = (await artifacts.read(batchKey(trainRun, cycle))) ?? Buffer.from('');
  const batchSha256 = createHash('sha256').update(batch).digest('hex');
  return { cycle, weightsSha256, batchSha256, rewardMean, verdicts, heldOut };
}
