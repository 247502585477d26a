import { type Client, WorkflowClient, type WorkflowExecutionInfo } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { SOLVE_PART_WORKFLOW, SOLVE_WORKFLOW } from '../protocol/names';
import type { SolveTrace } from '../protocol/solve';
import { previewOf } from '../protocol/text';
import { whyDegraded } from '../trace/describe';
import { eachInParallel } from '../store/store';
import { isPolled } from './pollers';
import { isNotFound, unlessNotFound } from './steer';

/** A run as a list shows it; its cost includes its children. */
export interface ListedRun {
  readonly id: string;
  readonly runId: string;
  readonly status: SolveTrace['status'];
  readonly waitsFor: NonNullable<SolveTrace['waitsFor']> | null;
  /** Whether a worker polls its task queue; null for a run that has ended. */
  readonly hasWorker: boolean | null;
  /** Beginning of the question; null if this client cannot read the run, e.g. without the key that encrypted it. */
  readonly question: string | null;
  /** Reasons why it failed or is degraded, a sentence each. */
  readonly problems: readonly string[];
  readonly costUsd: number | null;
  readonly costIsLowerBound: boolean;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

export interface ListOptions {
  /** Number of ended runs, the latest first. @default 10 */
  readonly ended?: number;
  /** Lists only runs that ended by this time. To page, pass the end of the last run, which the next page repeats. */
  readonly endedBefore?: string | undefined;
  readonly taskQueue?: string;
  /** Prefix of the ids to list. */
  readonly prefix?: string;
  /** Ids of runs to include even if unlisted, since the server lists runs a second late. Unknown ones are skipped. */
  readonly known?: readonly string[];
}

export interface RunList {
  /** Unfinished runs before ended ones, each newest first. */
  readonly runs: readonly ListedRun[];
  readonly unlisted: number;
}

/** Most unfinished runs that are read; any more are only counted. */
const MOST_UNFINISHED = 100;

type Found = Pick<
  WorkflowExecutionInfo,
  'workflowId' | 'runId' | 'type' | 'taskQueue' | 'status' | 'startTime' | 'closeTime'
>;

const RUNNING = "ExecutionStatus = 'Running'";
const ENDED = "ExecutionStatus != 'Running'";

/** Lists solves, including those that a workflow of the user's started, but no parts of other runs. Needs no worker. */
export async function listRuns(
  client: Client,
  readTrace: (id: string) => Promise<SolveTrace>,
  { ended = 10, endedBefore, taskQueue, prefix, known = [] }: ListOptions,
): Promise<RunList> {
  const listable = [...inQueue(taskQueue), ...(prefix === undefined ? [] : [beginsWith(prefix)])];
  const going = [...listable, RUNNING];
  const isFirstPage = endedBefore === undefined;
  const unfinished = isFirstPage ? await findRuns(client, going, MOST_UNFINISHED) : [];
  const over = await findRuns(client, [...listable, ENDED, ...endedBy(endedBefore)], ended);
  const listed = unfinished.length;
  const unlisted = listed < MOST_UNFINISHED ? 0 : (await countRuns(client, going)) - listed;
  const found = new Map([...over, ...unfinished].map((run) => [run.workflowId, run]));
  for (const run of await describeRuns(
    client,
    known.filter((id) => !found.has(id)),
  )) {
    if (isUnfinished(run) || ended > 0) found.set(run.workflowId, run);
  }
  const polled = new Map<string, boolean>();
  const queues = new Set([...found.values()].filter(isUnfinished).map((run) => run.taskQueue));
  await eachInParallel(queues, async (queue) => {
    polled.set(queue, await isPolled(client, queue));
  });
  const runs: ListedRun[] = [];
  await eachInParallel(found.values(), async (run) => {
    // Undefined if its retention has ended meanwhile, null if this client cannot read it.
    const trace = await readTrace(run.workflowId).catch((error: unknown) =>
      isNotFound(error) ? undefined : null,
    );
    if (trace !== undefined) runs.push(toListed(run, trace, polled.get(run.taskQueue) ?? false));
  });
  runs.sort((one, other) => Date.parse(other.startedAt) - Date.parse(one.startedAt));
  const isGoing = ({ status }: ListedRun): boolean => status === 'running';
  return {
    runs: [...runs.filter(isGoing), ...runs.filter((run) => !isGoing(run)).slice(0, ended)],
    unlisted,
  };
}

/** Returns solves that completed, newest first; `ended` also counts those that ended without an answer. */
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

/** Statuses with the same name in Temporal; all others are failures. */
const STATUSES = ['running', 'completed', 'cancelled'] as const;

function isUnfinished({ status }: Found): boolean {
  return status.name === 'RUNNING';
}

/** @param trace null if this client cannot read the run */
function toListed(
  { workflowId: id, runId, status, startTime, closeTime }: Found,
  trace: SolveTrace | null,
  isPolled: boolean,
): ListedRun {
  // A trace is always current; the server's lists may lag behind.
  const told: SolveTrace['status'] = STATUSES.find((each) => each === status.name.toLowerCase()) ?? 'failed';
  const known = trace === null ? { ...UNREADABLE, status: told } : sumUp(trace);
  return {
    id,
    runId,
    ...known,
    hasWorker: known.status === 'running' ? isPolled : null,
    startedAt: startTime.toISOString(),
    endedAt: closeTime?.toISOString() ?? null,
  };
}

const UNREADABLE = { waitsFor: null, question: null, problems: [], costUsd: null, costIsLowerBound: true };

function sumUp(trace: SolveTrace) {
  const { status, waitsFor = null, question, error, costUsd, costIsLowerBound } = trace;
  const problems = error === null ? whyDegraded(trace) : [error.message];
  return { status, waitsFor, question: previewOf(question), problems, costUsd, costIsLowerBound };
}

/** Returns the ids of unfinished workflows of the given type, at most a hundred. */
export async function unfinishedOf(client: Client, type: string, taskQueue: string): Promise<string[]> {
  const going = [...inQueue(taskQueue), RUNNING];
  return (await findRuns(client, going, MOST_UNFINISHED, type)).map(({ workflowId }) => workflowId);
}

/** Number of ended runs among which the one started last is sought: the server lists them by end time. */
const MOST_LATEST = 20;

/** Returns the id of the run that was started last, or null if there is none. @param known as in `ListOptions` */
export async function newestRun(
  client: Client,
  taskQueue: string | undefined,
  known: readonly string[],
): Promise<string | null> {
  const queue = inQueue(taskQueue);
  const found = await Promise.all([
    findRuns(client, [...queue, RUNNING], 1),
    findRuns(client, [...queue, ENDED], MOST_LATEST),
    describeRuns(client, known.slice(0, 1)),
  ]);
  const runs = found.flat().sort((one, other) => other.startTime.getTime() - one.startTime.getTime());
  return runs[0]?.workflowId ?? null;
}

/** Returns the ids of solves with this prefix; if there are none, those of parts of other runs. */
export async function findByPrefix(
  client: Client,
  prefix: string,
  known: readonly string[],
): Promise<string[]> {
  const begins = [beginsWith(prefix)];
  const noted = known.filter((id) => id.startsWith(prefix));
  const found = await Promise.all([findRuns(client, begins, MOST_UNFINISHED), describeRuns(client, noted)]);
  const solves = found.flat();
  const runs =
    solves.length > 0 ? solves : await findRuns(client, begins, MOST_UNFINISHED, SOLVE_PART_WORKFLOW);
  return [...new Set(runs.map(({ workflowId }) => workflowId))];
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
  for await (const run of withoutMemos(client).list({ query, pageSize: Math.min(most, 1000) })) {
    if (runs.push(run) === most) break;
  }
  return runs;
}

/** Returns a client that reads every memo as empty: one that it could not decrypt would make a whole list fail. */
export function withoutMemos({ workflow: { options }, connection }: Client): WorkflowClient {
  const empty = (payloads: Payload[]): Promise<Payload[]> =>
    Promise.resolve(payloads.map(() => ({ metadata: { encoding: Buffer.from('binary/null') } })));
  const dataConverter = { payloadCodecs: [{ encode: empty, decode: empty }] };
  return new WorkflowClient({ ...options, connection, dataConverter });
}

async function countRuns(client: Client, conditions: readonly string[]): Promise<number> {
  return (await client.workflow.count(queryOf(conditions, SOLVE_WORKFLOW))).count;
}

function queryOf(conditions: readonly string[], type: string): string {
  return [`WorkflowType = '${type}'`, ...conditions].join(' AND ');
}

/** Returns the condition for an end time; the server keeps times more precisely than in milliseconds. */
function endedBy(time: string | undefined): string[] {
  if (time === undefined) return [];
  return [`CloseTime <= ${quoted(new Date(Date.parse(time) + 1).toISOString())}`];
}

function inQueue(taskQueue: string | undefined): string[] {
  return taskQueue === undefined ? [] : [`TaskQueue = ${quoted(taskQueue)}`];
}

function beginsWith(prefix: string): string {
  return `WorkflowId STARTS_WITH ${quoted(prefix)}`;
}

function quoted(value: string): string {
  return `'${value.replace(/['\\]/g, '\\$&')}'`;
}

async function describeRuns(client: Client, ids: readonly string[]): Promise<Found[]> {
  const runs = await Promise.all(ids.map((id) => describeRun(client, id)));
  return runs.filter((run) => run !== null);
}

/** Describes a workflow; null if the server does not know it. */
export async function describeRun(client: Client, id: string): Promise<Found | null> {
  return unlessNotFound(withoutMemos(client).getHandle(id).describe());
}
