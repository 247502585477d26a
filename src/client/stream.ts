import { setTimeout as pause } from 'node:timers/promises';
import type { SolveResult } from '../protocol/solve';
import type { Store } from '../store/store';
import { LiveReader, type LiveText } from '../store/stream-log';
import { type LiveEvent, LiveTeller } from './live-events';

export interface StreamOptions {
  /** The cursor of the last event that was taken; the stream goes on with the next one. Default: from the beginning. */
  readonly after?: string;
}

/** How often the stream log is looked at. */
const LOOK_MS = 50;

interface Followed {
  readonly id: string;
  /** Whether an answer at this depth may be reviewed, once that is known. */
  readonly mayBeReviewed: () => Promise<(depth: number) => boolean>;
  readonly states: AsyncIterator<SolveResult>;
  readonly store: Store;
}

/** Tells what happens in a run, from its trace and its stream log, until it has ended. */
export async function* streamRun(
  { id, mayBeReviewed, states, store }: Followed,
  { after }: StreamOptions,
): AsyncGenerator<LiveEvent> {
  const teller = new LiveTeller(id, after);
  const log = store.append === undefined ? null : new LiveReader(store, id);
  let trace: SolveResult | undefined;
  let isPlanned = false;
  for await (const state of lookingMeanwhile(states, log === null ? null : LOOK_MS)) {
    trace = state ?? trace;
    // Before its first plan, a run may not have resolved its limits.
    if (!isPlanned && hasPlan(trace)) {
      isPlanned = true;
      teller.expectReviews(await mayBeReviewed());
    }
    if (log !== null) teller.add(await readOrNothing(log));
    if (trace !== undefined) yield* teller.tell(trace);
    if (teller.isOver) return;
  }
}

function hasPlan(trace: SolveResult | undefined): boolean {
  return trace?.rounds.some(({ plan }) => plan !== null) ?? false;
}

/** A store that is away costs the texts their liveliness alone: each step brings its own when it ends. */
function readOrNothing(log: LiveReader): Promise<LiveText[]> {
  return log.read().catch(() => []);
}

/** The states of a run, and null whenever so much time has passed that something else may be looked at. */
async function* lookingMeanwhile<State>(
  states: AsyncIterator<State>,
  lookMs: number | null,
): AsyncGenerator<State | null> {
  let next = states.next();
  try {
    for (;;) {
      const news = await Promise.race([next, ...(lookMs === null ? [] : [pause(lookMs, null)])]);
      if (news?.done === true) return;
      if (news !== null) next = states.next();
      yield news === null ? null : news.value;
    }
  } finally {
    await states.return?.();
  }
}
