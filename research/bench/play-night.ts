import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { runningServer } from '../../src/local/embedded-server';
import { readCycle, readMetrics, TrainingClient } from '../../src/training/client';
import type { CycleMetrics, CycleTimes } from '../../src/training/records';
import type { Town } from '../demo/town';
import { TRAIN_RUN } from '../support/lesson';
import { childrenOf } from '../support/surroundings';
import { type CycleFigures, type Figures, sum } from './tables';
import { OWN_FOLDER } from '../../src/runtime/own-folder';

const POLL_MS = 50;

/** Figures of a night that the product played. */
export interface NightFigures extends Figures {
  readonly times: readonly CycleTimes[];
}

/**
 * Plays a night on the whole stack and measures all its cycles but the first.
 *
 * @param server process id of Temporal's server
 */
export async function playNight(town: Town, server: number, cycles: number): Promise<NightFigures> {
  const connection = await Connection.connect({ address: town.address });
  try {
    const client = new Client({ connection });
    const { id } = await new TrainingClient({ client }).start({ trainRun: TRAIN_RUN, date: '2026-01-10' });
    const night = follow(client.workflow.getHandle(id).result());
    await night.until(town, 1);
    const before = await processorTimes(town, server);
    await night.until(town, cycles);
    const after = await processorTimes(town, server);
    await night.end;
    const [first, ...counted] = await readMetrics(town.store, TRAIN_RUN);
    return {
      cycles: counted.map((metrics, index) => figuresOf(metrics, counted[index - 1] ?? first)),
      times: counted.map(({ times }) => times),
      ownMs: after.ownMs - before.ownMs,
      serverMs: after.serverMs - before.serverMs,
    };
  } finally {
    await connection.close();
  }
}

/** Follows a running night. If it fails, `until` returns and `end` rejects. */
function follow(end: Promise<unknown>) {
  let isOver = false;
  const stop = (): void => {
    isOver = true;
  };
  end.then(stop, stop);
  return {
    end,
    until: async ({ store }: Town, cycle: number): Promise<void> => {
      while (!isOver && (await readCycle(store, TRAIN_RUN, cycle)) === null) await setTimeout(POLL_MS);
    },
  };
}

/** Measures from the previous cycle's record to its own, so that writing the record is part of a cycle. */
function figuresOf(
  { at, times, verdicts, weightsSha256 }: CycleMetrics,
  before: CycleMetrics | undefined,
): CycleFigures {
  return {
    wallMs: Date.parse(at) - Date.parse(before?.at ?? at),
    learningMs: times.update + times.publish,
    rollouts: sum(Object.values(verdicts)),
    weightsSha256,
  };
}

/** Returns the processor times of `up` with its worker, and of the server, whichever process started the server. */
async function processorTimes({ up }: Town, server: number) {
  const own = [up, ...childrenOf(up)].filter((pid) => pid !== server);
  const ownMs = sum(await Promise.all(own.map(processorTimeOf)));
  return { ownMs, serverMs: await processorTimeOf(server) };
}

/** Length of Linux's processor-time tick, in milliseconds. */
const TICK_MS = 10;

/** Returns a process's user and system time in milliseconds, from Linux's tick count; NaN on other systems. */
async function processorTimeOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The program's name, in brackets, may contain any character.
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14);
  return (Number(user) + Number(system)) * TICK_MS;
}

/**
 * Returns the process id of the Temporal server that was started in a folder.
 *
 * @throws Error if there is none
 */
export async function serverOf(folder: string): Promise<number> {
  const record = await runningServer(join(folder, OWN_FOLDER));
  if (record?.pid) return record.pid;
  throw new Error(`No Temporal server was started in ${folder}: did "up" find another one?`);
}
