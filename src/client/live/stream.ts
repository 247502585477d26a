import { type LiveEvent, LiveTeller } from './live-events';
import { FollowedRun, type Sources } from './followed-run';

export interface StreamOptions {
  /** Cursor of the last event received; the stream continues after it. Default: from the beginning. */
  readonly after?: string;
  /** Ends the stream when it is aborted, also while it waits for news. */
  readonly signal?: AbortSignal;
}

/** Yields the events of a run that nobody else follows here. */
export async function* streamRun(sources: Sources): AsyncGenerator<LiveEvent> {
  const closing = new AbortController();
  try {
    yield* tellRun(new FollowedRun(sources, closing.signal));
  } finally {
    closing.abort();
  }
}

/** Yields the events of a run, from its trace and its stream log, until it has ended. */
export async function* tellRun(
  run: FollowedRun,
  { after, signal }: StreamOptions = {},
): AsyncGenerator<LiveEvent> {
  const teller = new LiveTeller(run.id, after);
  let [changes, read] = [0, 0];
  while (!teller.isOver && signal?.aborted !== true) {
    if (changes === run.changes) {
      if (run.end === 'over') return;
      if (run.end !== null) throw run.end.error;
      await run.bell.rung(signal);
      continue;
    }
    changes = run.changes;
    teller.expectReviews(run.mayBeReviewed);
    teller.expectWaits(run.retries, run.held);
    teller.add(run.texts.slice(read));
    read = run.texts.length;
    yield* tellTrace(run, teller);
  }
}

async function* tellTrace(run: FollowedRun, teller: LiveTeller): AsyncGenerator<LiveEvent> {
  if (run.trace === null) return;
  for (const event of teller.tell(run.trace)) {
    // Whoever is told of a call may give its result at once.
    if (event.kind === 'callsWaiting') await run.keepTold(event);
    yield event;
  }
}
