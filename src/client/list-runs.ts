import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { SOLVE_PART_WORKFLOW, SOLVE_WORKFLOW } from '../protocol/names';
import type { SolveTrace } from '../protocol/solve';
import { previewOf } from '../protocol/text';
import { whyDegraded } from '../trace/describe';
import { eachInParallel } from '../store/store';
import { isPolled } from './pollers';
import { isNotFound } from './steer';

/** A run as a list shows it, what its children spent included. */
export interface ListedRun {
  readonly id: string;
  readonly runId: string;
  readonly status: SolveTrace['status'];
  readonly waitsFor: 'approval' | null;
  /** Whether a worker goes on with it; null for a run that has ended. */
  readonly hasWorker: boolean | null;
  /** Its beginning; null where this client cannot read the run, e.g. without the key it was encrypted with. */
  readonly question: string | null;
  /** Why it failed or is degraded: a sentence each. */
  readonly problems: readonly string[];
  readonly costUsd: number | null;
  readonly costIsLowerBound: boolean;
  readonly startedAt: string;
  /** Stays null for a moment after the end. */
  readonly endedAt: string | null;
}

export interface ListOptions {
  /** How many of the runs that have ended, the last ones first. @default 10 */
  readonly ended?: number;
  readonly taskQueue?: string;
  /** Ids of runs that must not be missing: the server lists a run a second late. Unknown ones are left out. */
  readonly known?: readonly string[];
}

export interface RunList {
  /** Unfinished ones before ended ones; each the newest first. */
  readonly runs: readonly ListedRun[];
  /** How many more have not ended. */
  readonly unlisted: number;
}

/** More unfinished runs than these are counted, not read. */
const MOST_UNFINISHED = 100;

type Found = Pick<
  WorkflowExecutionInfo,
  'workflowId' | 'runId' | 'taskQueue' | 'status' | 'startTime' | 'closeTime'
>;

const RUNNING = "ExecutionStatus = 'Running'";
const ENDED = "ExecutionStatus != 'Running'";

/** Lists solves, those that a workflow of the user's started included, without parts of other runs. Needs no worker. */
export async function listRuns(
  client: Client,
  readTrace: (id: string) => Promise<SolveTrace>,
  { ended = 10, taskQueue, known = [] }: ListOptions,
): Promise<RunList> {
  const going = [...inQueue(taskQueue), RUNNING];
  const unfinished = await findRuns(client, going, MOST_UNFINISHED);
  const over = await findRuns(client, [...inQueue(taskQueue), ENDED], ended);
  const listed = unfinished.length;
  const unlisted = listed < MOST_UNFINISHED ? 0 : (await countRuns(client, going)) - listed;
  const found = new Map([...over, ...unfinished].map((run) => [run.workflowId, run]));
  await eachInParallel(known, async (id) => {
    const run = found.has(id) ? null : await describeRun(client, id);
    if (run?.status.name === 'RUNNING' || (run && ended > 0)) found.set(id, run);
  });

  const polled = new Map<string, Promise<boolean>>();
  const hasWorker = (name: string): Promise<boolean> => {
    const answer = polled.get(name) ?? isPolled(client, name);
    polled.set(name, answer);
    return answer;
  };
  const runs: ListedRun[] = [];
  await eachInParallel(found.values(), async (run) => {
    // Undefined if its retention has ended since, null if this client cannot read it.
    const trace = await readTrace(run.workflowId).catch((error: unknown) =>
      isNotFound(error) ? undefined : null,
    );
    if (trace !== undefined) runs.push(await toListed(run, trace, hasWorker));
  });
  runs.sort((one, other) => Date.parse(other.startedAt) - Date.parse(one.startedAt));
  const isGoing = ({ status }: ListedRun): boolean => status === 'running';
  return {
    runs: [...runs.filter(isGoing), ...runs.filter((run) => !isGoing(run)).slice(0, ended)],
    unlisted,
  };
}

/** Solves of the log that came to an answer, the newest first; `ended` counts those without an answer, too. */
export async function completedSolves(
  client: Client,
  taskQueue: string,
  most: number,
): Promise<{ readonly solves: readonly Found[]; readonly ended: number }> {
  const queue = inQueue(taskQueue);
  return {
    solves: await findRuns(client, [...queue, "ExecutionStatus = 'Completed'"], most),
    ended: await countRuns(client, [...queue, ENDED]),
  };
}

const STATUSES: ReadonlyMap<string, SolveTrace['status']> = new Map([
  ['RUNNING', 'running'],
  ['COMPLETED', 'completed'],
  ['CANCELLED', 'cancelled'],
]);

/** @param trace null where this client cannot read the run */
async function toListed(
  { workflowId: id, runId, taskQueue, status, startTime, closeTime }: Found,
  trace: SolveTrace | null,
  hasWorker: (taskQueue: string) => Promise<boolean>,
): Promise<ListedRun> {
  // A trace is never behind, as lists of the server may be.
  const known =
    trace === null ? { ...UNREADABLE, status: STATUSES.get(status.name) ?? 'failed' } : sumUp(trace);
  return {
    id,
    runId,
    ...known,
    hasWorker: known.status === 'running' ? await hasWorker(taskQueue) : null,
    startedAt: startTime.toISOString(),
    endedAt: closeTime?.toISOString() ?? null,
  };
}

const UNREADABLE = { waitsFor: null, question: null, problems: [], costUsd: null, costIsLowerBound: true };

function sumUp(trace: SolveTrace): Omit<ListedRun, 'id' | 'runId' | 'hasWorker' | 'startedAt' | 'endedAt'> {
  const { status, waitsFor = null, question, error, costUsd, costIsLowerBound } = trace;
  const problems = error === null ? whyDegraded(trace) : [error.message];
  return { status, waitsFor, question: previewOf(question), problems, costUsd, costIsLowerBound };
}

/** The ids of workflows of another type that have not ended, at most a hundred. */
export async function unfinishedOf(client: Client, type: string, taskQueue: string): Promise<string[]> {
  const going = [...inQueue(taskQueue), RUNNING];
  return (await findRuns(client, going, MOST_UNFINISHED, type)).map(({ workflowId }) => workflowId);
}

/** The server lists ended runs by their ends: the one that was started last is sought among so many. */
const MOST_LATEST = 20;

/** The id of the run that was started last; null where there is none. @param known as in `ListOptions` */
export async function newestRun(
  client: Client,
  taskQueue: string | undefined,
  known: readonly string[],
): Promise<string | null> {
  const queue = inQueue(taskQueue);
  const found = await Promise.all([
    findRuns(client, [...queue, RUNNING], 1),
    findRuns(client, [...queue, ENDED], MOST_LATEST),
    Promise.all(known.slice(0, 1).map((id) => describeRun(client, id))),
  ]);
  const runs = found.flat().filter((run) => run !== null);
  runs.sort((one, other) => other.startTime.getTime() - one.startTime.getTime());
  return runs[0]?.workflowId ?? null;
}

/** The ids of solves that begin so, else those of parts of other runs. */
export async function findByPrefix(
  client: Client,
  prefix: string,
  known: readonly string[],
): Promise<string[]> {
  const begins = `WorkflowId STARTS_WITH ${quoted(prefix)}`;
  const ids = new Set(
    (await findRuns(client, [begins], MOST_UNFINISHED)).map(({ workflowId }) => workflowId),
  );
  await eachInParallel(known, async (id) => {
    if (id.startsWith(prefix) && (await describeRun(client, id)) !== null) ids.add(id);
  });
  if (ids.size > 0) return [...ids];
  const parts = await findRuns(client, [begins], MOST_UNFINISHED, SOLVE_PART_WORKFLOW);
  return [...new Set(parts.map(({ workflowId }) => workflowId))];
}

async function findRuns(
  client: Client,
  conditions: readonly string[],
  most: number,
  type: string = SOLVE_WORKFLOW,
): Promise<Found[]> {
  if (most === 0) return [];
  const query = queryOf(conditions, type);
  const runs: Found[] = [];
  for await (const run of client.workflow.list({ query, pageSize: Math.min(most, 1000) })) {
    if (runs.push(run) === most) break;
  }
  return runs;
}

async function countRuns(client: Client, conditions: readonly string[]): Promise<number> {
  return (await client.workflow.count(queryOf(conditions, SOLVE_WORKFLOW))).count;
}

function queryOf(conditions: readonly string[], type: string): string {
  return [`WorkflowType = '${type}'`, ...conditions].join(' AND ');
}

function inQueue(taskQueue: string | undefined): string[] {
  return taskQueue === undefined ? [] : [`TaskQueue = ${quoted(taskQueue)}`];
}

function quoted(value: string): string {
  return `'${value.replace(/['\\]/g, '\\$&')}'`;
}

/** Null for a workflow that the server does not know. */
export async function describeRun(client: Client, id: string): Promise<Found | null> {
  try {
    return await client.workflow.getHandle(id).describe();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return null;
  }
}
