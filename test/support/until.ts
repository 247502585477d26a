import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { SolveResult } from '../../src';
import { isNotFound } from '../../src/client';
import type { Stage } from './stage';

/** Pause between two looks: what is looked at needs the processor, too. */
const BETWEEN_LOOKS_MS = 10;

/** Polls until the result fits. */
export async function until<T>(look: () => T | Promise<T>, fits: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await look();
    if (fits(found)) return found;
    await setTimeout(BETWEEN_LOOKS_MS);
  }
}

/** Waits until the trace of a run fits. */
export function untilTrace(
  { client }: Pick<Stage, 'client'>,
  id: string,
  fits: (trace: SolveResult) => boolean,
): Promise<SolveResult> {
  return until(() => client.trace(id), fits);
}

/** Waits until processes have ended, whether or not their parents have noticed. */
export async function untilGone(...pids: readonly number[]): Promise<void> {
  const statOf = (pid: number): Promise<string> => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  await until(
    () => Promise.all(pids.map(statOf)),
    (stats) => stats.every((stat) => stat === '' || stat.slice(stat.lastIndexOf(')')).startsWith(') Z')),
  );
}

/** Waits until a run has ended, in success or failure, and returns its trace. */
export async function endOf({ temporal, client }: Stage, id: string): Promise<SolveResult> {
  const end = temporal.client.workflow.getHandle(id).result();
  await end.catch(() => undefined);
  return client.trace(id);
}

/**
 * Solves a question and does some work while a model's answers are held back: until the work releases them or ends.
 * Returns the run when it has ended.
 */
export function solveAnd(
  stage: Stage,
  model: string,
  work: (id: string, letGo: () => void) => Promise<void>,
): Promise<SolveResult> {
  const letGo = stage.providers.hold(model);
  return stage.whileWorking(async () => {
    const { id } = await stage.client.start({ question: 'Where does the Danube rise?' });
    await stage.providers.waitForRequest((asked) => asked.model === model);
    await work(id, letGo);
    letGo();
    return endOf(stage, id);
  });
}

/** Waits until a signal is in a run's history; the run need not exist yet. */
export async function untilHeard(client: Client, id: string, name: string): Promise<void> {
  await until(
    () => heardSignals(client, id),
    (heard) => heard.includes(name),
  );
}

/** Returns the names of the signals in a run's history, oldest first. */
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

/** Returns the message with which a request is refused. */
export async function refusalOf(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    () => 'it was not refused',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}
