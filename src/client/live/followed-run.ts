import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { isRecursionAllowed } from '../../protocol/planning';
import { STATE_QUERY } from '../../protocol/names';
import type { SolveResult, SolveTrace } from '../../protocol/solve';
import type { Store } from '../../store/store';
import { LiveReader, type LiveText } from '../../store/stream-log';
import { stalledRuns } from '../../trace/run-tree';
import { Bell } from '../../runtime/turns';
import type { Retry } from '../pending-call';
import { keepTold } from '../tools/caller-calls';
import { readRunNow } from '../trace-reader';

/** Polling interval of the stream log. */
const LOOK_MS = 50;
/** Polling interval if the store reports new entries, as it may miss some; shortest interval for waiting calls. */
const SELDOM_MS = 1000;
/** Most log polls and server requests per second for all followed runs of a process: hundreds would take all its time. */
const MOST_LOOKS = 500;
const MOST_ASKS = 100;
const followed = { runs: 0 };

/** Returns the pause of one run with which all followed runs together act at most `most` times per second. */
function pauseOf(ms: number, most: number): number {
  return Math.max(ms, (followed.runs / most) * 1000);
}

export interface Sources {
  readonly id: string;
  readonly client: Client;
  readonly watch: (signal: AbortSignal) => AsyncIterator<SolveResult>;
  /** Reads the calls that wait for a retry. */
  readonly retries: () => Promise<readonly Retry[]>;
  /** null: each text arrives when its step has ended. */
  readonly store: Store | null;
}

/** Follows a run for all its streams: they share one reader of its history and log, and one copy of its texts. */
export class FollowedRun {
  readonly id: string;
  /** Rung after each change of the fields below. */
  readonly bell = new Bell();
  changes = 0;
  trace: SolveResult | null = null;
  /** Texts of the stream log, in order of arrival. */
  readonly texts: LiveText[] = [];
  /** Calls that now wait for a retry; null until they were read. */
  retries: readonly Retry[] | null = null;
  /** Ids of runs whose limits hold a step back. */
  held: readonly string[] = [];
  /** Whether an answer at this depth may be reviewed; known once there is a plan. */
  mayBeReviewed: (depth: number) => boolean = () => false;
  /** Set once nothing more will be read. */
  end: { readonly error: unknown } | 'over' | null = null;
  private textLength = 0;

  constructor(
    private readonly sources: Sources,
    closing: AbortSignal,
  ) {
    this.id = sources.id;
    void this.follow(closing);
  }

  /** Length of the texts that are kept for the streams, in characters. */
  get length(): number {
    return this.textLength + (this.trace === null ? 0 : lengthOf(this.trace));
  }

  /** Keeps where calls of the caller's functions wait. */
  async keepTold(event: Parameters<typeof keepTold>[2]): Promise<void> {
    const { id, store } = this.sources;
    if (store !== null) await keepTold(store, id, event);
  }

  private async follow(closing: AbortSignal): Promise<void> {
    const over = new AbortController();
    const following = AbortSignal.any([over.signal, closing]);
    followed.runs += 1;
    void everySoOften(following, () => this.readWaits());
    try {
      await this.read(following);
      this.end = 'over';
    } catch (error) {
      this.end = { error };
    } finally {
      followed.runs -= 1;
      over.abort();
      this.bell.ring();
    }
  }

  private async read(following: AbortSignal): Promise<void> {
    const { id, store, watch } = this.sources;
    let log = store === null ? null : new LiveReader(store, id);
    let isPlanned = false;
    for await (const trace of lookingMeanwhile(watch(following), log, following)) {
      if (!isPlanned && hasPlan(trace)) {
        isPlanned = true;
        if (!(await this.prepare())) log = null;
      }
      // All at once: what a trace tells comes after the texts before it.
      const texts: LiveText[] = [];
      for await (const some of readOrNothing(log)) texts.push(...some);
      if (texts.length > 0 || trace !== this.trace) this.take(trace, texts);
      if (trace.status !== 'running') return;
    }
  }

  private async readWaits(): Promise<void> {
    const { client, retries } = this.sources;
    const found = await retries();
    this.held = await heldBy(client, this.trace === null ? [] : stalledRuns(this.trace));
    this.retries = found;
    this.change();
  }

  /** Expects reviews if the limits, unresolved before a plan, may allow them. Returns whether texts are logged. */
  private async prepare(): Promise<boolean> {
    const known = await readRunNow(this.sources.client, this.id).catch(() => null);
    const run = known?.run ?? null;
    // If the limits are unknown, a review may follow.
    this.mayBeReviewed = (depth) => run === null || isRecursionAllowed('review', run, depth);
    return known?.input.live === true;
  }

  private take(trace: SolveResult, texts: readonly LiveText[]): void {
    this.trace = trace;
    this.texts.push(...texts);
    for (const { text } of texts) this.textLength += text.length;
    this.change();
  }

  private change(): void {
    this.changes += 1;
    this.bell.ring();
  }
}

/** Returns how long the texts of a trace are. */
function lengthOf({ question, answer, rounds }: SolveResult): number {
  const outputs = rounds.flatMap(({ steps }) => steps.map(({ output }) => output));
  return [question, answer, ...outputs].reduce((sum, text) => sum + (text?.length ?? 0), 0);
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
