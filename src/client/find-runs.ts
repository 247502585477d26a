import { type Client, WorkflowClient, type WorkflowExecutionInfo } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { SOLVE_WORKFLOW } from '../protocol/names';
import { pairsOf, type RunCriteria } from '../protocol/search-attributes';
import type { SolveTrace } from '../protocol/solve';
import type { RunFilter } from '../trace/run-filter';
import { withAttributes } from './search-attributes';
import { unlessNotFound } from './server-errors';

// Finds runs in the server's lists, which lag about a second behind.

/** A run as the server lists it. */
export type FoundRun = Pick<
  WorkflowExecutionInfo,
  | 'workflowId'
  | 'runId'
  | 'type'
  | 'taskQueue'
  | 'status'
  | 'startTime'
  | 'closeTime'
  | 'typedSearchAttributes'
>;

/** Runs to find: all solves, except as far as a field is set. */
export interface Sought extends Pick<RunFilter, 'startedFrom' | 'startedBefore'> {
  readonly type?: string;
  readonly taskQueue?: string | undefined;
  readonly prefix?: string | undefined;
  readonly status?: keyof typeof STATUS;
  readonly endedBefore?: string | undefined;
  readonly where?: RunCriteria | undefined;
}

/** Returns runs, newest first. @throws SearchAttributeError if the namespace has no such attribute */
export async function findRuns(client: Client, sought: Sought, most: number): Promise<FoundRun[]> {
  if (most === 0) return [];
  return withAttributes(client, readList(client, queryOf(sought), most));
}

async function readList(client: Client, query: string, most: number): Promise<FoundRun[]> {
  const runs: FoundRun[] = [];
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

export async function countRuns(client: Client, sought: Sought): Promise<number> {
  return (await client.workflow.count(queryOf(sought))).count;
}

/** Statuses as the server's queries name them; runs that were terminated or timed out have failed. */
const STATUS = {
  running: "= 'Running'",
  ended: "!= 'Running'",
  completed: "= 'Completed'",
  cancelled: "= 'Canceled'",
  failed: "IN ('Failed', 'Terminated', 'TimedOut')",
} as const;

function queryOf({
  type = SOLVE_WORKFLOW,
  taskQueue,
  prefix,
  status,
  endedBefore,
  startedFrom,
  startedBefore,
  where = {},
}: Sought): string {
  const conditions = [
    `WorkflowType = '${type}'`,
    taskQueue !== undefined && `TaskQueue = ${quoted(taskQueue)}`,
    prefix !== undefined && `WorkflowId STARTS_WITH ${quoted(prefix)}`,
    status !== undefined && `ExecutionStatus ${STATUS[status]}`,
    // The server keeps times more precisely than in milliseconds.
    endedBefore !== undefined && `CloseTime <= '${new Date(Date.parse(endedBefore) + 1).toISOString()}'`,
    startedFrom !== undefined && `StartTime >= '${new Date(startedFrom).toISOString()}'`,
    startedBefore !== undefined && `StartTime < '${new Date(startedBefore).toISOString()}'`,
    ...pairsOf(where).map(({ key, value }) => `${key.name} = ${quoted(value)}`),
  ];
  return conditions.filter(Boolean).join(' AND ');
}

/** Returns a value as Temporal's queries take it, whatever it holds. */
export function quoted(value: string): string {
  return `'${value.replace(/['\\]/g, '\\$&')}'`;
}

/** Describes those workflows that the server knows. */
export async function describeRuns(client: Client, ids: readonly string[]): Promise<FoundRun[]> {
  const runs = await Promise.all(ids.map((id) => describeRun(client, id)));
  return runs.filter((run) => run !== null);
}

/** Statuses with the same name in Temporal; all others are failures. */
const SAME: readonly SolveTrace['status'][] = ['running', 'completed', 'cancelled'];

/** Returns the status of a solve as the server has it, without reading the solve. */
export function statusOf({ status: { name } }: Pick<FoundRun, 'status'>): SolveTrace['status'] {
  return SAME.find((each) => each === name.toLowerCase()) ?? 'failed';
}

/** Describes a workflow; null if the server does not know it. */
export async function describeRun(client: Client, id: string): Promise<FoundRun | null> {
  return unlessNotFound(withoutMemos(client).getHandle(id).describe());
}
