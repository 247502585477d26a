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
/** The same where the store tells that something is new: it may have failed to. */
const SELDOM_MS = 1000;

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
  const log = new LiveReader(store, id);
  let trace: SolveResult | undefined;
  let isPlanned = false;
  for await (const state of lookingMeanwhile(states, log)) {
    trace = state ?? trace;
    if (trace === undefined) continue;
    // Before its first plan, a run may not have resolved its limits.
    if (!isPlanned && hasPlan(trace)) {
      isPlanned = true;
      teller.expectReviews(await mayBeReviewed());
    }
    for await (const texts of readOrNothing(log)) {
      teller.add(texts);
      yield* teller.tell(trace);
    }
    yield* teller.tell(trace);
    if (teller.isOver) return;
  }
}

function hasPlan({ rounds }: SolveResult): boolean {
  return rounds.some(({ plan }) => plan !== null);
}

/** A store that is away costs the texts their liveliness alone: each step brings its own when it ends. */
async function* readOrNothing(log: LiveReader): AsyncGenerator<LiveText[]> {
  const pages = log.read();
  for (;;) {
    const page = await pages.next().catch(() => null);
    if (page === null || page.done === true) return;
    yield page.value;
  }
}

/** The states of a run, and null whenever there may be something new in its log. */
async function* lookingMeanwhile<State>(
  states: AsyncIterator<State>,
  log: LiveReader,
): AsyncGenerator<State | null> {
  const lookMs = log.isPolled ? LOOK_MS : SELDOM_MS;
  let bell = newBell(lookMs);
  const end = log.watch(() => {
    bell.ring();
  });
  let next = states.next();
  try {
    for (;;) {
      const news = await Promise.race([next, bell.rung]);
      if (news?.done === true) return;
      if (news === null) bell = newBell(lookMs);
      else next = states.next();
      yield news === null ? null : news.value;
    }
  } finally {
    bell.ring();
    end?.();
    await states.return?.();
  }
}

interface Bell {
  readonly rung: Promise<null>;
  readonly ring: () => void;
}

/** Rings by itself after a time; whoever listens later hears it, too. */
function newBell(afterMs: number): Bell {
  let ring: () => void = () => undefined;
  const rung = new Promise<null>((resolve) => {
    const clock = setTimeout(resolve, afterMs, null);
    ring = () => {
      clearTimeout(clock);
      resolve(null);
    };
  });
  return { rung, ring };
}
