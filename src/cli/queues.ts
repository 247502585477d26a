import { relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { isPolled } from '../client/pollers';
import type { TemporalServer } from '../local/configured-server';
import { DEFAULT_TASK_QUEUE } from '../protocol/names';
import { UsageError } from './exit-code';
import { say } from './terminal';

/** What a command knows of the workers that it relies on. */
interface Place {
  readonly server: Pick<TemporalServer, 'address' | 'embedded'>;
  readonly config: { readonly temporal: { readonly taskQueue: string } };
  readonly temporal: Client;
  /** What `--config` names. */
  readonly file: string | undefined;
}

const OF_FILE = `${DEFAULT_TASK_QUEUE}@`;

/** The queue of a configuration that is not the folder's own: a person who meets its name knows what serves it. */
export function queueOf(file: string): string {
  return `${OF_FILE}${relative('', file)}`;
}

/** The command that has a queue polled. */
function serverOf(taskQueue: string, { server, config, file }: Place): string {
  const command = `temporal-conductor ${server.embedded ? 'up' : 'worker'}`;
  const withFile = (path: string | undefined): string =>
    path === undefined ? command : `${command} --config ${path}`;
  if (taskQueue === config.temporal.taskQueue) return withFile(file);
  if (taskQueue.startsWith(OF_FILE)) return withFile(taskQueue.slice(OF_FILE.length));
  if (taskQueue === DEFAULT_TASK_QUEUE) return command;
  return `${withFile('FILE')}, with "temporal: { taskQueue: ${taskQueue} }" in that file`;
}

/** A worker that was lost, or makes way for one with a changed configuration, is back by then. */
const PATIENCE_MS = 3_000;
const LOOK_MS = 500;

/** @throws UsageError where no worker polls the configuration's queue, so that what is left there would wait for ever */
export async function requireWorker(place: Place, left: string): Promise<void> {
  const { taskQueue } = place.config.temporal;
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_MS) {
    if (await isPolled(place.temporal, taskQueue)) return;
    await pause(LOOK_MS);
  }
  throw new UsageError(
    `${left} would wait for ever: no worker of this folder polls task queue ${taskQueue}. ` +
      `Start one beside it, and try again: ${serverOf(taskQueue, place)}`,
  );
}

/** Whether what was left on a server is worked on; says what it waits for where it is not. */
export async function checkServed(place: Place): Promise<boolean> {
  const { taskQueue } = place.config.temporal;
  const isServed = await isPolled(place.temporal, taskQueue);
  if (!isServed) say(absence(taskQueue, place));
  return isServed;
}

const WATCH_MS = 2_500;

/**
 * Says once where a run waits because no worker polls its queue, for as long as a command waits for it.
 *
 * @returns what ends that
 */
export function watchForAbsence(place: Place, workflowId: string, tell = say): () => void {
  const look = async (): Promise<void> => {
    const { status, taskQueue } = await place.temporal.workflow.getHandle(workflowId).describe();
    if (status.name !== 'RUNNING' || (await isPolled(place.temporal, taskQueue))) return;
    clearInterval(timer);
    tell(absence(taskQueue, place));
  };
  // A look that fails is left out: what the command itself does tells more.
  const timer = setInterval(() => void look().catch(() => undefined), WATCH_MS);
  return () => {
    clearInterval(timer);
  };
}

function absence(taskQueue: string, place: Place): string {
  return (
    `No worker polls task queue ${taskQueue} at ${place.server.address}: it waits until one does. ` +
    `Start one with: ${serverOf(taskQueue, place)}`
  );
}
