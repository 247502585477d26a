import type { Client } from '@temporalio/client';
import { reasonOf } from '../errors';
import { SOLVE_PART_WORKFLOW, SOLVE_WORKFLOW } from '../protocol/names';
import { meets, type RunCriteria } from '../protocol/search-attributes';
import type { SolveTrace } from '../protocol/solve';
import { previewOf } from '../protocol/text';
import { withoutWords } from '../telemetry/names';
import { whyDegraded } from '../trace/describe';
import { isUnfinishedState, type RunFilter, withinFilter } from '../trace/run-filter';
import { eachInParallel } from '../store/store';
import {
  countRuns,
  describeRuns,
  findRuns,
  type FoundRun,
  type Sought,
  statusOf,
  withoutMemos,
} from './find-runs';
import { abbreviates } from './run-id';
import { isNotFound, unlessNotFound } from './server-errors';
import { type QueueState, readQueue } from './workers/pollers';
import { pinOf, whyRunsWait } from './workers/versions';

/** A run as a list shows it; its cost includes its children. */
export interface ListedRun {
  readonly id: string;
  readonly runId: string;
  readonly status: SolveTrace['status'];
  readonly waitsFor: NonNullable<SolveTrace['waitsFor']> | null;
  /** Whether a worker takes it: one polls its task queue, of its version if it stays on one; null for a run that has ended. */
  readonly hasWorker: boolean | null;
  /** Beginning of the question; null if this client cannot read the run, e.g. without the key that encrypted it. */
  readonly question: string | null;
  /** Reasons why it waits, failed, is degraded or cannot be read, a sentence each. */
  readonly problems: readonly string[];
  /** Workers that were asked or are to be, in the order of the plans; empty while there is none. */
  readonly workers: readonly string[];
  readonly costUsd: number | null;
  readonly costIsLowerBound: boolean;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

export interface ListOptions extends RunFilter {
  /** Most ended runs, the latest first. @default 10 */
  readonly ended?: number;
  /** Lists only runs that ended by this time: to page, `earlier` of the page before, whose last run is repeated. */
  readonly endedBefore?: string | undefined;
  readonly taskQueue?: string;
  /** Lists only runs with these values, which the configuration must have them started with (`searchAttributes`). */
  readonly where?: RunCriteria;
  /** Prefix of the ids to list. */
  readonly prefix?: string;
  /** Ids of runs to include even if unlisted, since the server lists runs a second late. Unknown ones are skipped. */
  readonly known?: readonly string[];
}

export interface RunList {
  /** Unfinished runs before ended ones, each newest first. */
  readonly runs: readonly ListedRun[];
  /** Unfinished runs that were counted, but not read. */
  readonly unlisted: number;
  /** End of the last ended run that was looked at, if there are earlier ones; null if there are none, or none were asked for. */
  readonly earlier: string | null;
}

/** Most unfinished runs that are read; any more are only counted. */
const MOST_UNFINISHED = 100;

/** Most ended runs in which words are sought: the server keeps no questions, so each is read. */
const MOST_SEARCHED = 500;

/** Runs that are read at once. */
const AT_ONCE = 16;

/**
 * Lists solves, including those that a workflow of the user's started, but no parts of other runs. Needs no worker.
 * The server narrows by state and start as far as it knows them; each run's trace decides.
 */
export async function listRuns(
  client: Client,
  readTrace: (id: string) => Promise<SolveTrace>,
  options: ListOptions,
): Promise<RunList> {
  const { ended = 10, known = [], where = {} } = options;
  const { going, unlisted } = await findGoing(client, options);
  const { over, isCut } = await findOver(client, options);
  const found = new Map(going.map((run) => [run.workflowId, run]));
  const others = latestOfEach(over).filter(({ workflowId }) => !found.has(workflowId));
  const ids = new Set([...going, ...others].map(({ workflowId }) => workflowId));
  for (const run of await describeRuns(
    client,
    known.filter((id) => !ids.has(id)),
  )) {
    const isListed = isUnfinished(run) || ended > 0;
    if (isListed && meets(run.typedSearchAttributes, where)) found.set(run.workflowId, run);
  }
  const served = await servedRuns(client, found.values());
  const isWithin = withinFilter(options);
  const list = async (run: FoundRun): Promise<ListedRun | undefined> => {
    // Undefined if its retention has ended meanwhile, a reason if this client cannot read it.
    const trace = await readTrace(run.workflowId).catch((error: unknown) =>
      isNotFound(error) ? undefined : reasonOf(error),
    );
    if (trace === undefined) return undefined;
    const listed = toListed(run, trace, served.has(run.workflowId));
    return isWithin(listed) ? listed : undefined;
  };
  const first = await collect([...found.values()], Infinity, list);
  const then = await collect(others, ended, list);
  const runs = [...first.runs, ...then.runs];
  runs.sort((one, other) => Date.parse(other.startedAt) - Date.parse(one.startedAt));
  const isGoing = ({ status }: ListedRun): boolean => status === 'running';
  return {
    runs: [...runs.filter(isGoing), ...runs.filter((run) => !isGoing(run)).slice(0, ended)],
    unlisted,
    earlier: isCut || then.last !== others.at(-1) ? endOf(then.last) : null,
  };
}

function endOf(run: FoundRun | undefined): string | null {
  return run?.closeTime?.toISOString() ?? null;
}

/** Finds unfinished runs, and counts those beyond the most that are read. Only a first page has them. */
async function findGoing(
  client: Client,
  { endedBefore, state, ...sought }: ListOptions,
): Promise<{ readonly going: readonly FoundRun[]; readonly unlisted: number }> {
  const isAsked = endedBefore === undefined && (state === undefined || isUnfinishedState(state));
  if (!isAsked) return { going: [], unlisted: 0 };
  const running: Sought = { ...sought, status: 'running' };
  const going = await findRuns(client, running, MOST_UNFINISHED);
  const unlisted = going.length < MOST_UNFINISHED ? 0 : (await countRuns(client, running)) - going.length;
  return { going, unlisted };
}

/** Finds ended runs, the latest first, and says whether there may be more. */
async function findOver(
  client: Client,
  { ended = 10, state, words = '', ...sought }: ListOptions,
): Promise<{ readonly over: readonly FoundRun[]; readonly isCut: boolean }> {
  if (ended === 0 || (state !== undefined && isUnfinishedState(state))) return { over: [], isCut: false };
  const most = words === '' ? ended : Math.max(ended, MOST_SEARCHED);
  const over = await findRuns(client, { ...sought, status: state ?? 'ended' }, most);
  return { over, isCut: over.length === most };
}

/** Leaves out earlier runs with the id of a later one, as a reset leaves them. */
function latestOfEach(runs: readonly FoundRun[]): FoundRun[] {
  const ids = runs.map(({ workflowId }) => workflowId);
  return runs.filter(({ workflowId }, index) => ids.indexOf(workflowId) === index);
}

/** Returns the ids of unfinished runs whose queue a worker polls: of a run that stays on a version, one of that version. */
async function servedRuns(client: Client, runs: Iterable<FoundRun>): Promise<ReadonlySet<string>> {
  const going = [...runs].filter(isUnfinished);
  const queues = new Map<string, QueueState>();
  await eachInParallel(new Set(going.map(({ taskQueue }) => taskQueue)), async (name) => {
    queues.set(name, await readQueue(client, name));
  });
  const served = new Set<string>();
  await eachInParallel(going, async ({ workflowId, taskQueue }) => {
    const queue = queues.get(taskQueue);
    if (queue === undefined || queue.pollers.length === 0) return;
    const run = await unlessNotFound(withoutMemos(client).getHandle(workflowId).describe());
    if (run !== null && whyRunsWait(taskQueue, queue, pinOf(run)) === null) served.add(workflowId);
  });
  return served;
}

/** Lists runs in order until there are enough. Returns the last one that was looked at, too. */
async function collect(
  found: readonly FoundRun[],
  enough: number,
  list: (run: FoundRun) => Promise<ListedRun | undefined>,
): Promise<{ readonly runs: readonly ListedRun[]; readonly last: FoundRun | undefined }> {
  const runs: ListedRun[] = [];
  for (let from = 0; from < found.length; from += AT_ONCE) {
    const portion = found.slice(from, from + AT_ONCE);
    const listed = await Promise.all(portion.map(list));
    for (const [index, run] of listed.entries()) {
      if (run !== undefined) runs.push(run);
      if (runs.length === enough) return { runs, last: portion[index] };
    }
  }
  return { runs, last: found.at(-1) };
}

/** Returns solves that completed, newest first; `ended` also counts those that ended without an answer. */
export async function completedSolves(
  client: Client,
  taskQueue: string,
  most: number,
): Promise<{ readonly solves: readonly FoundRun[]; readonly ended: number }> {
  return {
    solves: await findRuns(client, { taskQueue, status: 'completed' }, most),
    ended: await countRuns(client, { taskQueue, status: 'ended' }),
  };
}

function isUnfinished({ status }: FoundRun): boolean {
  return status.name === 'RUNNING';
}

/** @param trace a reason if this client cannot read the run */
function toListed(
  { workflowId: id, runId, startTime, closeTime, ...run }: FoundRun,
  trace: SolveTrace | string,
  isServed: boolean,
): ListedRun {
  // A trace is always current; the server's lists may lag behind.
  const told = statusOf(run);
  const known = typeof trace === 'string' ? { ...UNREADABLE, problems: [trace], status: told } : sumUp(trace);
  return {
    id,
    runId,
    ...known,
    hasWorker: known.status === 'running' ? isServed : null,
    startedAt: startTime.toISOString(),
    endedAt: closeTime?.toISOString() ?? null,
  };
}

const UNREADABLE = { waitsFor: null, question: null, workers: [], costUsd: null, costIsLowerBound: true };

function sumUp(trace: SolveTrace) {
  const { status, waitsFor = null, waitReason, question, error, rounds, costUsd, costIsLowerBound } = trace;
  const told = error === null ? whyDegraded(trace) : [error.message];
  const problems = [...(waitReason === undefined ? [] : [waitReason]), ...told];
  const workers = [...new Set(rounds.flatMap(({ steps }) => steps.map(({ worker }) => worker)))];
  return { status, waitsFor, question: previewOf(question), problems, workers, costUsd, costIsLowerBound };
}

/** Returns the ids of unfinished workflows of the given type, at most a hundred. */
export async function unfinishedOf(client: Client, type: string, taskQueue: string): Promise<string[]> {
  const runs = await findRuns(client, { type, taskQueue, status: 'running' }, MOST_UNFINISHED);
  return runs.map(({ workflowId }) => workflowId);
}

/** Number of ended runs among which the one started last is sought: the server lists them by end time. */
const MOST_LATEST = 20;

/** Returns the id of the run that was started last, or null if there is none. @param known as in `ListOptions` */
export async function newestRun(
  client: Client,
  taskQueue: string | undefined,
  known: readonly string[],
): Promise<string | null> {
  const found = await Promise.all([
    findRuns(client, { taskQueue, status: 'running' }, 1),
    findRuns(client, { taskQueue, status: 'ended' }, MOST_LATEST),
    describeRuns(client, known.slice(0, 1)),
  ]);
  const runs = found.flat().sort((one, other) => other.startTime.getTime() - one.startTime.getTime());
  return runs[0]?.workflowId ?? null;
}

/**
 * Returns the ids of solves with this prefix; if there are none, those of parts of other runs, then of the newest that
 * have this id on spans. The id of a run that is gone finds neither its retries nor its children.
 */
export async function findByPrefix(
  client: Client,
  prefix: string,
  known: readonly string[],
): Promise<string[]> {
  const idsOf = (runs: readonly FoundRun[]): string[] =>
    runs.map(({ workflowId }) => workflowId).filter((id) => abbreviates(prefix, id));
  const noted = known.filter((id) => id.startsWith(prefix));
  const found = [findRuns(client, { prefix }, MOST_UNFINISHED), describeRuns(client, noted)];
  const solves = idsOf((await Promise.all(found)).flat());
  const parts: Sought = { type: SOLVE_PART_WORKFLOW, prefix };
  const ids = solves.length > 0 ? solves : idsOf(await findRuns(client, parts, MOST_UNFINISHED));
  return ids.length > 0 ? [...new Set(ids)] : findBySpan(client, prefix);
}

/** Returns the ids of the newest runs that have this id on their spans, where it is without words of the question. */
async function findBySpan(client: Client, named: string): Promise<string[]> {
  if (!named.startsWith('solve-')) return [];
  const found = await Promise.all(
    [SOLVE_WORKFLOW, SOLVE_PART_WORKFLOW].map((type) =>
      findRuns(client, { type, prefix: 'solve-' }, MOST_UNFINISHED),
    ),
  );
  return found.flatMap((runs) =>
    runs.flatMap(({ workflowId: id }) => (withoutWords(id) === named ? [id] : [])),
  );
}
