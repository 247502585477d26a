import { readFile } from 'node:fs/promises';
import type { Client } from '@temporalio/client';
import type { SolveResult } from '../../src';
import { isNotFound } from '../../src/client/steer';
import type { Stage } from './stage';

/** Asks the server again and again until the answer fits. Each look is a request of its own, so nothing spins. */
export async function until<T>(look: () => Promise<T>, fits: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await look();
    if (fits(found)) return found;
  }
}

/** Waits until processes have ended, whether or not their parents have noticed. */
export async function untilGone(...pids: readonly number[]): Promise<void> {
  const statOf = (pid: number): Promise<string> => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  await until(
    () => Promise.all(pids.map(statOf)),
    (stats) => stats.every((stat) => stat === '' || stat.slice(stat.lastIndexOf(')')).startsWith(') Z')),
  );
}

/** Waits until a run has ended, however it did, and returns its trace. */
export async function endOf({ temporal, client }: Stage, id: string): Promise<SolveResult> {
  const end = temporal.client.workflow.getHandle(id).result();
  await end.catch(() => undefined);
  return client.trace(id);
}

/** Waits until a signal is in a run's history, be the run there already or still to come. */
export async function untilHeard(client: Client, id: string, name: string): Promise<void> {
  await until(
    () => heardSignals(client, id),
    (heard) => heard.includes(name),
  );
}

/** The names of the signals in a run's history, oldest first. */
async function heardSignals(client: Client, id: string): Promise<string[]> {
  try {
    const { events } = await client.workflow.getHandle(id).fetchHistory();
    return (events ?? []).flatMap(
      ({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? [],
    );
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** The words that something is refused with. */
export async function refusalOf(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    () => 'it was not refused',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}
