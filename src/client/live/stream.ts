import { Shared } from '../../runtime/turns';
import { FollowedRun, type Sources } from './followed-run';
import type { LiveEvent } from './live-events';
import { LiveTeller } from './live-teller';

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
async function* tellRun(run: FollowedRun, { after, signal }: StreamOptions = {}): AsyncGenerator<LiveEvent> {
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

/** Streams of a client: those of one run share what follows it. */
export class Streams {
  private readonly followed = new Shared<FollowedRun>();

  async *tell(sources: Sources, options: StreamOptions): AsyncGenerator<LiveEvent> {
    const { id } = sources;
    const { value: run, leave } = this.followed.use(id, (closing) => new FollowedRun(sources, closing));
    try {
      yield* tellRun(run, options);
    } catch (error) {
      this.followed.forget(id, run);
      throw error;
    } finally {
      leave();
    }
  }

  /** Returns the length, in characters, of all that is kept in memory for the open streams of a run. */
  lengthOf(id: string): number {
    return this.followed.find(id)?.length ?? 0;
  }
}
