import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { isRecursionAllowed } from '../protocol/planning';
import type { SolveResult } from '../protocol/solve';
import type { Store } from '../store/store';
import { LiveReader, type LiveText } from '../store/stream-log';
import type { Retry } from './pending-call';
import { type LiveEvent, LiveTeller } from './live-events';
import { readRunNow } from './trace-reader';

export interface StreamOptions {
  /** The cursor of the last event that was taken; the stream goes on with the next one. Default: from the beginning. */
  readonly after?: string;
}

/** How often the stream log is looked at. */
const LOOK_MS = 50;
/** A retry waits for a second at least, so nothing is missed that a person would see. */
const RETRIES_MS = 1_000;

interface Followed {
  readonly id: string;
  readonly client: Client;
  readonly states: AsyncIterator<SolveResult>;
  /** Looks for calls that wait to be tried again. */
  readonly retries: () => Promise<readonly Retry[]>;
  /** null: each text comes when its step has ended. */
  readonly store: Store | null;
}

/** Tells what happens in a run, from its trace and its stream log, until it has ended. */
export async function* streamRun(
  { id, client, states, retries, store }: Followed,
  { after }: StreamOptions = {},
): AsyncGenerator<LiveEvent> {
  const teller = new LiveTeller(id, after);
  let log = store?.append === undefined ? null : new LiveReader(store, id);
  let isPlanned = false;
  // A look that fails is left out.
  const look = (): unknown => retries().then(teller.expectRetries, () => undefined);
  const looking = setInterval(look, RETRIES_MS).unref();
  try {
    for await (const trace of lookingMeanwhile(states, log === null ? RETRIES_MS : LOOK_MS)) {
      if (!isPlanned && hasPlan(trace)) {
        isPlanned = true;
        if (!(await prepare(teller, client, id))) log = null;
      }
      teller.add(await readOrNothing(log));
      yield* teller.tell(trace);
      if (teller.isOver) return;
    }
  } finally {
    clearInterval(looking);
  }
}

/** Before its first plan, a run may not have resolved its limits. @returns whether its texts are logged */
async function prepare(teller: LiveTeller, client: Client, id: string): Promise<boolean> {
  const { origin } = await readRunNow(client, id).catch(() => ({ origin: null }));
  // Where nothing is known, a review may come.
  teller.expectReviews((depth) => origin === null || isRecursionAllowed('review', origin.run, depth));
  return origin?.input.live === true;
}

function hasPlan({ rounds }: SolveResult): boolean {
  return rounds.some(({ plan }) => plan !== null);
}

/** A store that is away costs the texts their liveliness alone: each step brings its own when it ends. */
async function readOrNothing(log: LiveReader | null): Promise<LiveText[]> {
  return log?.read().catch(() => []) ?? [];
}

/** The states of a run, the last one again whenever so much time has passed that something else may be looked at. */
async function* lookingMeanwhile<State>(states: AsyncIterator<State>, lookMs: number): AsyncGenerator<State> {
  const ask = (): Promise<IteratorResult<State>> => {
    const asked = states.next();
    // Avoids an unhandled rejection when nobody waits for news any more.
    asked.catch(() => undefined);
    return asked;
  };
  let next = ask();
  let last: State | undefined;
  try {
    for (;;) {
      const news = await Promise.race([next, pause(lookMs, null)]);
      if (news?.done === true) return;
      if (news !== null) [next, last] = [ask(), news.value];
      if (last !== undefined) yield last;
    }
  } finally {
    await states.return?.();
  }
}
