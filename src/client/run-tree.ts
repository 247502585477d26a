import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { SolveTrace } from '../protocol/solve';
import { withChild } from '../trace/reduce';
import { isReview } from '../trace/run-tree';
import type { HistoryDecoder } from './history';
import { isNotFound } from './steer';

/** Reads one run alone: its trace as it is now, or with `follow` as it grows until the run has ended. */
export type ReadRun = (id: string, follow: boolean) => AsyncIterable<SolveTrace>;

/**
 * The trace of a run with all runs below it, as it is now. A child that has ended is in its parent's history; any other
 * is looked up in its own.
 */
export async function readTree(read: ReadRun, id: string): Promise<SolveTrace | undefined> {
  let own: SolveTrace | undefined;
  for await (const trace of read(id, false)) own = trace;
  return own && addChildren(read, own);
}

/** A run's own trace with all that runs below it. */
export async function addChildren(read: ReadRun, own: SolveTrace): Promise<SolveTrace> {
  const children = await Promise.all(
    childrenToRead(own).map(async (childId) => ({ childId, trace: await readChild(read, childId) })),
  );
  return children.reduce(
    (whole, { childId, trace }) => (trace ? withChild(whole, childId, trace) : whole),
    own,
  );
}

/** Undefined for a child that the server has not started yet. */
async function readChild(read: ReadRun, id: string): Promise<SolveTrace | undefined> {
  try {
    return await readTree(read, id);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The trace of a run with all runs below it, anew whenever something happens anywhere, until the run has ended. */
export async function* followTree(read: ReadRun, id: string): AsyncGenerator<SolveTrace> {
  const latest = new Map<string, SolveTrace>();
  const readers = new Readers();
  readers.add(id, read(id, true));
  try {
    for (;;) {
      const news = await readers.next();
      if (news === null) return;
      latest.set(news.id, news.trace);
      const own = latest.get(id);
      if (own === undefined) continue;
      const children = childrenToRead(own);
      for (const childId of children) readers.add(childId, followChild(read, childId));
      yield children.reduce((whole, childId) => {
        const child = latest.get(childId);
        return child ? withChild(whole, childId, child) : whole;
      }, own);
      if (own.status !== 'running' && children.length === 0) return;
    }
  } finally {
    readers.close();
  }
}

/** Waits up to ten seconds for the server to start a child that its parent has asked for. */
async function* followChild(read: ReadRun, id: string): AsyncGenerator<SolveTrace> {
  for (let looks = 0; looks < 40; looks += 1) {
    try {
      yield* followTree(read, id);
      return;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await pause(250);
    }
  }
}

/** The run's own children that its history does not hold: those under way, and those that were cancelled or killed. */
function childrenToRead({ rounds, calls }: SolveTrace): string[] {
  const known = new Set(calls.map(({ childId }) => childId));
  const steps = rounds.filter((round) => round.childId === null).flatMap((round) => round.steps);
  const asked = steps.filter(({ output, error }) => output === null || error !== null);
  const reviews = rounds.filter(
    (round) => isReview(round) && (round.decision === null || round.decision === 'failed'),
  );
  const children = [...asked, ...reviews].flatMap(({ childId }) => childId ?? []);
  return children.filter((childId) => !known.has(childId));
}

interface Reading {
  readonly id: string;
  readonly reader: AsyncIterator<SolveTrace>;
  readonly next: IteratorResult<SolveTrace, unknown>;
}

/** Several runs read at once, each by a reader of its own. */
class Readers {
  private readonly readers = new Map<string, AsyncIterator<SolveTrace>>();
  private readonly pending = new Map<string, Promise<Reading>>();

  /** Nothing is read twice. */
  add(id: string, traces: AsyncIterable<SolveTrace>): void {
    if (this.readers.has(id)) return;
    const reader = traces[Symbol.asyncIterator]();
    this.readers.set(id, reader);
    this.read(id, reader);
  }

  /** Waits for the first reader that sees something; null when all have ended. */
  async next(): Promise<{ id: string; trace: SolveTrace } | null> {
    while (this.pending.size > 0) {
      const { id, reader, next } = await Promise.race(this.pending.values());
      this.pending.delete(id);
      if (next.done === true) continue;
      this.read(id, reader);
      return { id, trace: next.value };
    }
    return null;
  }

  /** What a reader is in the middle of ends by itself. */
  close(): void {
    for (const reader of this.readers.values()) reader.return?.().catch(() => undefined);
  }

  private read(id: string, reader: AsyncIterator<SolveTrace>): void {
    const reading = reader.next().then((next) => ({ id, reader, next }));
    // The next call of `next` throws it; where none comes any more, it is no lost rejection.
    reading.catch(() => undefined);
    this.pending.set(id, reading);
  }
}

/** A call that failed at no cost and waits to be tried again. */
export interface Retry {
  /** The attempt that comes next. */
  readonly attempt: number;
  /** Why the last one failed: one sentence that names the worker. */
  readonly reason: string;
}

/** Which calls of a run wait for another attempt. Retries leave no events in a history. */
export async function readRetries(client: Client, id: string, decoder: HistoryDecoder): Promise<Retry[]> {
  const { raw } = await client.workflow.getHandle(id).describe();
  const waiting = (raw.pendingActivities ?? []).filter(({ lastFailure }) => lastFailure != null);
  return Promise.all(
    waiting.map(async ({ attempt, lastFailure }) => {
      const { message } = await decoder.failure(lastFailure);
      return { attempt: attempt ?? 1, reason: message };
    }),
  );
}
