import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { DAY_MS } from '../config/duration';
import { SOLVE_WORKFLOWS } from '../protocol/names';
import { reasonOf } from '../errors';
import { ASKED_RUNS, askedRunAt } from '../store/asked-runs';
import { CALLER_CALLS, callerCallAt, readCallerCall, readCallerResult } from '../store/caller-calls';
import { readKeptAnswer, rowKeys } from '../store/ledger';
import { eachInParallel, type Store, sweep, type Swept, timeAgo } from '../store/store';
import { isLogOf, LIVE_FOLDER } from '../store/stream-log';
import { runOfToolCall, TOOL_CALLS } from '../store/tool-calls';
import { HistoryDecoder, payloadsIn, readHistory } from './history';
import { withoutMemos } from './find-runs';
import { isNotFound } from './server-errors';

export interface CollectOptions {
  /** Any Temporal client with the data converter of the workers; its namespace is searched. */
  readonly client: Client;
  readonly store: Store;
  readonly olderThanMs: number;
  readonly dryRun?: boolean;
}

export interface Collected {
  readonly texts: Swept;
  /** Kept answers of models, of tools and of callers, answers that a vendor was still writing, and notes on requests. */
  readonly answers: Swept;
  readonly runs: number;
}

/**
 * Removes old, unused objects from a store: unreferenced texts, and answers and logs of runs that are gone. A run
 * that the server still has keeps everything; the texts of evaluation and training records are kept for good.
 * Records and the ledger are never collected.
 * It is safe while runs are active: `keepText` renews an old text before anything refers to it, within seconds.
 * A store belongs to one namespace of one server: objects that only others refer to are removed.
 * @throws Error for an age below a day, or if a history cannot be read; nothing is removed then
 */
export async function collectGarbage(options: CollectOptions): Promise<Collected> {
  const { client, store, olderThanMs, dryRun = false } = options;
  if (!(olderThanMs >= DAY_MS)) {
    throw new Error(`only what is older than a day can be collected, not what is ${olderThanMs} ms old`);
  }
  const than = await timeAgo(store, olderThanMs);
  const { runIds, workflowIds, refs } = await findHeldRuns(client);
  // Calls are taken from the ledger, since histories may not have them yet.
  const calls = new Set<string>();
  await eachInParallel(runIds, async (runId) => {
    for (const key of await rowKeys(store, runId)) calls.add(key.split('/')[2] ?? '');
  });
  await eachInParallel(calls, async (callId) => {
    for (const ref of refsIn(await readKeptAnswer(store, callId))) refs.add(ref);
  });
  // What a caller was told, and gave, is of use as long as its run is there.
  const callsOfRuns = new Set<string>();
  await eachInParallel(store.entries(CALLER_CALLS), async ({ key }) => {
    const id = callerCallAt(key);
    const call = id === null ? null : await readCallerCall(store, id);
    if (id === null || call === null || !workflowIds.has(call.root)) return;
    callsOfRuns.add(id);
    for (const ref of refsIn(await readCallerResult(store, id))) refs.add(ref);
  });
  const isToolCallLive = (key: string): boolean => {
    const runId = runOfToolCall(key);
    return runId === null || runIds.has(runId);
  };
  await eachInParallel(store.entries(TOOL_CALLS), async ({ key }) => {
    const bytes = isToolCallLive(key) ? await store.read(key) : null;
    for (const ref of refsIn(bytes?.toString('utf8'))) refs.add(ref);
  });
  for (const folder of RECORDS) {
    await eachInParallel(store.entries(folder), async ({ key }) => {
      const bytes = /\.jsonl?$/.test(key) ? await store.read(key) : null;
      for (const ref of refsIn(bytes?.toString('utf8'))) refs.add(ref);
    });
  }
  // Objects whose names are not ours are kept.
  const isCallLive = (key: string): boolean => {
    const [, callId] = /^[a-z]{1,20}\/[^/]{1,100}\/([^/]{1,100})\.json$/.exec(key) ?? [];
    return callId === undefined || calls.has(callId);
  };
  const isTextLive = (key: string): boolean => {
    const ref = refAt(key);
    return ref === null || refs.has(ref);
  };
  const isLogLive = isLogOf(workflowIds);
  const isCallerCallLive = (key: string): boolean => {
    const id = callerCallAt(key);
    return id === null || callsOfRuns.has(id);
  };
  const isAskedLive = (key: string): boolean => {
    const id = askedRunAt(key);
    return id === null || workflowIds.has(id);
  };
  const answers = await sweep(store, ['answers/', 'background/', TOOL_CALLS, CALLER_CALLS, ASKED_RUNS], {
    than,
    dryRun,
    isLive: (key) => {
      if (key.startsWith(ASKED_RUNS)) return isAskedLive(key);
      if (key.startsWith(CALLER_CALLS)) return isCallerCallLive(key);
      return key.startsWith(TOOL_CALLS) ? isToolCallLive(key) : isCallLive(key);
    },
  });
  const isLive = (key: string): boolean => isTextLive(key) && isLogLive(key);
  const texts = await sweep(store, ['texts/', LIVE_FOLDER], { than, dryRun, isLive });
  return { texts, answers, runs: runIds.size };
}

/** Folders of question sets and records, which outlive the runs they came from. */
const RECORDS = ['questions/', 'evaluations/', 'training/'];

/** Returns all runs of the namespace, and every text that a history names, those of foreign workflows included. */
async function findHeldRuns(client: Client): Promise<Record<'runIds' | 'workflowIds' | 'refs', Set<string>>> {
  const runIds = new Set<string>();
  const workflowIds = new Set<string>();
  const refs = new Set<string>();
  // A run that is not listed yet began a moment ago, and has no old object that no other run has.
  const runs = withoutMemos(client).list({ pageSize: 1000 });
  await eachInParallel(runs, async (run) => {
    if (runIds.has(run.runId)) return;
    runIds.add(run.runId);
    workflowIds.add(run.workflowId);
    for await (const ref of refsOfRun(client, run)) refs.add(ref);
  });
  return { runIds, workflowIds, refs };
}

async function* refsOfRun(client: Client, run: WorkflowExecutionInfo): AsyncGenerator<string> {
  try {
    for await (const events of readHistory(client, run, null)) {
      for (const payload of await payloadsIn(events)) yield* refsIn(await decode(client, run, payload));
    }
  } catch (error) {
    // Its retention ended while we read.
    if (!isNotFound(error)) throw error;
  }
}

/** Decodes a payload. An unreadable one may refer to anything: if the run is ours, it ends the search with an error. */
async function decode(
  client: Client,
  { workflowId, type }: WorkflowExecutionInfo,
  payload: Payload,
): Promise<unknown> {
  try {
    return await new HistoryDecoder(client.options.loadedDataConverter).payload(payload);
  } catch (error) {
    if (!SOLVE_WORKFLOWS.includes(type)) {
      return Buffer.from(payload.data ?? []).toString('latin1');
    }
    const what = `the history of run ${workflowId} cannot be read (${reasonOf(error)})`;
    const so = 'so it is unknown which texts it needs, and nothing was removed';
    throw new Error(`${what}, ${so}: use the data converter that its worker uses`, { cause: error });
  }
}

/**
 * Yields every reference to a text within a value of any shape, including those inside longer strings. Workflows of
 * other programs nest their values as deep as they like.
 */
export function* refsIn(value: unknown): Generator<string> {
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string') yield* next.match(/sha256-[0-9a-f]{64}/g) ?? [];
    else if (typeof next === 'object' && next !== null && !ArrayBuffer.isView(next)) {
      for (const part of Object.values(next)) left.push(part);
    }
  }
}

/** Returns the reference to the text under a key, or null if the key is not that of a text. */
export function refAt(key: string): string | null {
  const digest = /^texts\/[0-9a-f]{2}\/([0-9a-f]{64})$/.exec(key)?.[1];
  return digest === undefined ? null : `sha256-${digest}`;
}
