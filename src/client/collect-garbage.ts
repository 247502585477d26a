import type { Client } from '@temporalio/client';
import { findAnswer } from '../store/answers';
import { eachInParallel } from '../store/each-in-parallel';
import { rowKeys } from '../store/ledger';
import type { Store } from '../store/store';
import { sweep, type Swept } from '../store/sweep';
import { refAt, refsIn } from '../store/texts';
import { findHeldRuns, type HeldRuns } from './held-runs';

/** The least age that is collected. See `collectGarbage`. */
const SHORTEST_AGE_MS = 24 * 60 * 60 * 1000;

export interface CollectOptions {
  /** Any Temporal client with the data converter of the workers; its namespace is searched. */
  readonly client: Client;
  readonly store: Store;
  /** At least a day. */
  readonly olderThanMs: number;
  /** Counts and removes nothing. */
  readonly dryRun?: boolean;
}

/** What was old in the store, and what became of it. */
export interface Collected {
  readonly texts: Swept;
  /** Kept answers, and answers begun at the vendor. */
  readonly answers: Swept;
  /** How many runs the server holds. */
  readonly runs: number;
}

/** What is kept for a single call, under its call id. */
const CALL_FOLDERS = ['answers/', 'background/'];

/**
 * Removes from a store what is old and of no use: texts that no run refers to, and answers of runs that are gone. A run
 * that the server holds, open or within retention, keeps all that it has. The ledger is for ever.
 *
 * It works beside runs that go on. What they keep while it works is young, since `keepText` makes an old text young
 * again before anybody refers to it; what they kept before is named by then in their histories, or by an answer that is
 * kept for one of their calls. Between keeping a text and naming it lie seconds, of which a day is far out of reach:
 * therefore no younger age is accepted.
 *
 * A store belongs to one namespace of one server. Where several share it, what only the others refer to is dead here.
 *
 * @throws Error for a younger age, and where a history cannot be read; nothing is removed then
 */
export async function collectGarbage(options: CollectOptions): Promise<Collected> {
  const { client, store, olderThanMs, dryRun = false } = options;
  if (!(olderThanMs >= SHORTEST_AGE_MS)) {
    throw new Error(`only what is older than a day can be collected, not what is ${olderThanMs} ms old`);
  }
  const than = new Date(Date.now() - olderThanMs);
  const held = await findHeldRuns(client);
  const calls = await callsOf(held, store);
  const refs = new Set([...held.refs, ...(await refsOfAnswers(calls, store))]);

  const isLiveCall = (key: string): boolean => isUnknownOr(calls, callIdAt(key));
  const answers = await sweep(store, CALL_FOLDERS, { than, dryRun, isLive: isLiveCall });
  const isLiveText = (key: string): boolean => isUnknownOr(refs, refAt(key));
  const texts = await sweep(store, ['texts/'], { than, dryRun, isLive: isLiveText });
  return { texts, answers, runs: held.runIds.size };
}

/** Of the calls of those runs, whether or not their histories tell of them yet. The ledger does. */
async function callsOf({ runIds }: HeldRuns, store: Store): Promise<Set<string>> {
  const calls = new Set<string>();
  await eachInParallel(runIds, async (runId) => {
    for (const key of await rowKeys(store, runId)) calls.add(key.split('/')[2] ?? '');
  });
  return calls;
}

async function refsOfAnswers(calls: ReadonlySet<string>, store: Store): Promise<Set<string>> {
  const refs = new Set<string>();
  await eachInParallel(calls, async (callId) => {
    for (const ref of refsIn(await findAnswer(store, callId))) refs.add(ref);
  });
  return refs;
}

function callIdAt(key: string): string | null {
  return /^[a-z]+\/[^/]+\/([^/]+)\.json$/.exec(key)?.[1] ?? null;
}

/** What we do not know the name of is not ours to remove. */
function isUnknownOr(live: ReadonlySet<string>, name: string | null): boolean {
  return name === null || live.has(name);
}
