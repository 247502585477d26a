import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { isRecursionAllowed } from '../protocol/planning';
import { STATE_QUERY } from '../protocol/names';
import type { SolveResult, SolveTrace } from '../protocol/solve';
import type { Store } from '../store/store';
import { LiveReader, type LiveText } from '../store/stream-log';
import { stalledRuns } from '../trace/run-tree';
import { type LiveEvent, LiveTeller } from './live-events';
import type { Retry } from './pending-call';
import { readRunNow } from './trace-reader';

export interface StreamOptions {
  /** Cursor of the last event received; the stream continues after it. Default: from the beginning. */
  readonly after?: string;
  /** Ends the stream when it is aborted, also while it waits for news. */
  readonly signal?: AbortSignal;
}

/** Polling interval of the stream log. */
const LOOK_MS = 50;
/** Polling interval if the store reports new entries, as it may miss some; shortest interval for waiting calls. */
const SELDOM_MS = 1000;
/** Most log polls and server requests per second of all streams of a process: hundreds would take all its time. */
const MOST_LOOKS = 500;
const MOST_ASKS = 100;
const streams = { open: 0 };

/** Returns the pause of one stream with which all open streams together act at most `most` times per second. */
function pauseOf(ms: number, most: number): number {
  return Math.max(ms, (streams.open / most) * 1000);
}

interface Followed {
  readonly id: string;
  readonly client: Client;
  readonly watch: (signal: AbortSignal) => AsyncIterator<SolveResult>;
  /** Reads the calls that wait for a retry. */
  readonly retries: () => Promise<readonly Retry[]>;
  /** null: each text arrives when its step has ended. */
  readonly store: Store | null;
}

/** Yields the events of a run, from its trace and its stream log, until it has ended. */
export async function* streamRun(
  { id, client, watch, retries, store }: Followed,
  { after, signal }: StreamOptions = {},
): AsyncGenerator<LiveEvent> {
  const teller = new LiveTeller(id, after);
  let log = store === null ? null : new LiveReader(store, id);
  let isPlanned = false;
  let last: SolveResult | undefined;
  const over = new AbortController();
  const following = AbortSignal.any([over.signal, ...(signal ? [signal] : [])]);
  streams.open += 1;
  void everySoOften(following, async () => {
    teller.expectWaits(await retries(), await heldBy(client, last === undefined ? [] : stalledRuns(last)));
  });
  try {
    for await (const trace of lookingMeanwhile(watch(following), log, following)) {
      last = trace;
      if (!isPlanned && hasPlan(trace)) {
        isPlanned = true;
        if (!(await prepare(teller, client, id))) log = null;
      }
      for await (const texts of readOrNothing(log)) {
        teller.add(texts);
        yield* teller.tell(trace);
      }
      yield* teller.tell(trace);
      if (teller.isOver) return;
    }
  } finally {
    streams.open -= 1;
    over.abort();
  }
}

/** Repeats some work, never concurrently; failures are ignored. */
async function everySoOften(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await pause(pauseOf(SELDOM_MS, MOST_ASKS), null, { signal, ref: false })
      .then(work)
      .catch(() => undefined);
  }
}

/** Returns the runs whose limits hold a step back, which only the runs themselves know. */
async function heldBy(client: Client, ids: readonly string[]): Promise<string[]> {
  const held = await Promise.all(
    ids.map(async (id) => {
      const { waitsFor } = await client.workflow.getHandle(id).query<SolveTrace>(STATE_QUERY);
      return waitsFor === 'limit' ? [id] : [];
    }),
  );
  return held.flat();
}

/** Expects reviews if the limits, unresolved before a plan, may allow them. @returns whether texts are logged */
async function prepare(teller: LiveTeller, client: Client, id: string): Promise<boolean> {
  const known = await readRunNow(client, id).catch(() => null);
  const run = known?.run ?? null;
  // If the limits are unknown, a review may follow.
  teller.expectReviews((depth) => run === null || isRecursionAllowed('review', run, depth));
  return known?.input.live === true;
}

function hasPlan({ rounds }: SolveResult): boolean {
  return rounds.some(({ plan }) => plan !== null);
}

/** Reads the log, or nothing if the store fails: each step's text then arrives when the step ends. */
async function* readOrNothing(log: LiveReader | null): AsyncGenerator<LiveText[]> {
  try {
    if (log !== null) yield* log.read();
  } catch {
    // The next look reads on from there.
  }
}

function pauseBeforeLook(log: LiveReader | null): number {
  return pauseOf(log?.isPolled === true ? LOOK_MS : SELDOM_MS, MOST_LOOKS);
}

/** Yields the states of a run, and the last one again whenever other news is possible, until the signal is aborted. */
async function* lookingMeanwhile<State>(
  states: AsyncIterator<State>,
  log: LiveReader | null,
  signal: AbortSignal,
): AsyncGenerator<State> {
  const ask = (): Promise<IteratorResult<State>> => {
    const asked = states.next();
    // Avoids an unhandled rejection when nobody waits for news any more.
    asked.catch(() => undefined);
    return asked;
  };
  // Ends the pause between two looks; a pause that begins later ends at once.
  let bell = new AbortController();
  const ring = (): void => {
    bell.abort();
  };
  const unsubscribe = log?.watch(ring);
  let next = ask();
  let last: State | undefined;
  try {
    for (;;) {
      const pausing = pause(pauseBeforeLook(log), null, { signal: bell.signal });
      const news = await Promise.race([next, pausing.catch(() => null)]);
      if (news?.done === true) return;
      if (news === null) bell = new AbortController();
      else [next, last] = [ask(), news.value];
      if (last !== undefined) yield last;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    ring();
    unsubscribe?.();
  }
}
