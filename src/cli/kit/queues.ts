import { relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { isPolled, pinOf, readQueue, whyRunsWait } from '../../client';
import type { Config } from '../../config/schema';
import type { TemporalServer } from '../../local/configured-server';
import { DEFAULT_TASK_QUEUE, SOLVE_WORKFLOW } from '../../protocol/names';
import { unlessInterrupted } from './ending';
import { UsageError } from '../../errors';
import type { RunningWorker } from './start-worker';
import { say } from './terminal';

interface QueueSession {
  readonly server: Pick<TemporalServer, 'address' | 'embedded'>;
  readonly config: Pick<Config, 'temporal' | 'workers'>;
  readonly temporal: Client;
  readonly file: string | undefined;
  readonly worker: Pick<RunningWorker, 'identity'> | null;
}

const OF_FILE = `${DEFAULT_TASK_QUEUE}@`;

/** Returns the task queue of a configuration that is not the folder's own; its name tells which file serves it. */
export function queueOf(file: string): string {
  return `${OF_FILE}${relative('', file)}`;
}

/** Returns what is to be said of a queue whose new runs, or whose given one, would wait for a worker; null: none would. */
async function findWait(
  taskQueue: string,
  place: QueueSession,
  run?: WorkflowExecutionDescription,
): Promise<string | null> {
  const queue = await readQueue(place.temporal, taskQueue);
  // A worker of this command polls in a moment, if it does not yet.
  const isOwn = place.worker !== null && taskQueue === place.config.temporal.taskQueue;
  if (queue.pollers.length === 0) return isOwn ? null : describeUnpolled(taskQueue, place);
  const why = whyRunsWait(taskQueue, queue, run && pinOf(run));
  return why === null ? null : `No worker takes ${run === undefined ? 'new runs' : 'this run'}: ${why}`;
}

function describeUnpolled(taskQueue: string, place: QueueSession): string {
  const what = `No worker polls task queue ${taskQueue} at ${place.server.address}: it waits until one does`;
  return `${what}. Start one with: ${serverOf(taskQueue, place)}`;
}

/** Returns the command that serves a queue. */
function serverOf(taskQueue: string, { server, config, file }: QueueSession): string {
  const command = server.embedded ? 'up' : 'worker';
  if (taskQueue === config.temporal.taskQueue) return commandOf(command, file);
  if (taskQueue.startsWith(OF_FILE)) return commandOf(command, taskQueue.slice(OF_FILE.length));
  if (taskQueue === DEFAULT_TASK_QUEUE) return commandOf(command);
  return `${commandOf(command, 'FILE')}, with "temporal: { taskQueue: ${taskQueue} }" in that file`;
}

/** Returns a command line of ours, with the file that `--config` named. */
export function commandOf(words: string, file?: string): string {
  return `temporal-conductor ${words}${file === undefined ? '' : ` --config ${file}`}`;
}

/** Time for a worker that was lost, or is restarted with a changed configuration, to come back. */
const PATIENCE_MS = 3_000;
const LOOK_MS = 500;

/** @throws UsageError if no worker polls the configuration's queue: work left there would wait for ever */
export async function requireWorker(place: QueueSession, left: string): Promise<void> {
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

/** Returns whether a worker polls the configuration's queue; if not, says how to start one. */
export async function checkServed(place: QueueSession): Promise<boolean> {
  const { taskQueue } = place.config.temporal;
  const wait = await findWait(taskQueue, place);
  if (wait !== null) say(wait);
  return wait === null;
}

/** Timeout of the check for other workers. */
const ASK_MS = 2_000;

/** Returns whether another process is known to make the calls of runs here, so that they go on without this command. */
export async function isWorkedOnElsewhere({ temporal, config, worker }: QueueSession): Promise<boolean> {
  const ask = (): Promise<boolean> =>
    isPolled(temporal, config.temporal.taskQueue, 'activities', worker?.identity);
  return temporal.withDeadline(Date.now() + ASK_MS, ask).catch(() => false);
}

const WATCH_MS = 2_500;

/** Says once per queue, ours or the user's, that a run waits there for a worker. Returns a function that stops it. */
export function watchForMissingWorker(place: QueueSession, workflowId: string): () => void {
  const told = new Set<string>();
  const look = async (): Promise<void> => {
    for (const line of await findMissingWorkers(place, workflowId)) {
      if (!told.has(line)) say(line);
      told.add(line);
    }
  };
  // A failed look is ignored: the command's own requests report more.
  const timer = setInterval(() => void look().catch(() => undefined), WATCH_MS);
  return () => {
    clearInterval(timer);
  };
}

/** Awaits work that needs workers, and says which of them are missing; undefined after Ctrl-C. */
export async function whileWatching<Value>(
  place: QueueSession,
  workflowId: string,
  interruption: AbortSignal,
  work: Promise<Value>,
): Promise<Value | undefined> {
  const stopLooking = watchForMissingWorker(place, workflowId);
  return unlessInterrupted(interruption, work).finally(stopLooking);
}

/** `PendingActivityState` of Temporal's API: no worker has taken it yet. */
const SCHEDULED = 1;

async function findMissingWorkers(place: QueueSession, workflowId: string): Promise<string[]> {
  const { temporal, config, server } = place;
  const run = await temporal.workflow.getHandle(workflowId).describe();
  const { status, taskQueue, raw } = run;
  if (status.name !== 'RUNNING') return [];
  const wait = await findWait(taskQueue, place, run);
  if (wait !== null) return [wait];
  const waiting = (raw.pendingActivities ?? []).filter(({ state }) => Number(state) === SCHEDULED);
  const children = raw.pendingChildren ?? [];
  const called = {
    activity: waiting.map(({ activityType }) => activityType?.name),
    workflow: children.map(({ workflowTypeName }) => workflowTypeName),
  };
  const members = config.workers.map(async (member) => {
    if (member.provider !== 'activity' && member.provider !== 'workflow') return [];
    const { id, provider, type, taskQueue: queue } = member;
    if (!called[provider].includes(type)) return [];
    if (await isPolled(temporal, queue, provider === 'activity' ? 'activities' : 'workflows')) return [];
    return [
      `No worker polls task queue ${queue} at ${server.address}, where worker ${id} of the pool is ` +
        `(${provider} ${type}): its step waits until one does. Start that worker of yours, or solve without it: --deny ${id}`,
    ];
  });
  const inside = children
    .filter(({ workflowTypeName }) => workflowTypeName === SOLVE_WORKFLOW)
    .map(({ workflowId: id }) => findMissingWorkers(place, id ?? ''));
  return (await Promise.all([...members, ...inside])).flat();
}
