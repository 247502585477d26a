import { setTimeout as pause } from 'node:timers/promises';
import type { Call, SolveTrace } from '../protocol/solve';
import { callOf, readRow, rowKeys, rowPlace } from '../store/ledger';
import type { Store } from '../store/store';
import { isPresumed } from '../trace/events';
import { totalOf } from '../trace/cost';
import { withChild } from '../trace/with-child';
import { isReview } from '../trace/run-tree';
import { isNotFound, unlessNotFound } from './server-errors';

/** Reads one run without its children: its current trace, or each new one until it ends or `following` is aborted. */
export type ReadRun = (id: string, following: AbortSignal | null) => AsyncIterable<SolveTrace>;

/** Returns the current trace of a run with all runs below it. */
export async function readTree(read: ReadRun, id: string): Promise<SolveTrace> {
  let own: SolveTrace | undefined;
  for await (const trace of read(id, null)) own = trace;
  if (own === undefined)
    throw new Error(`run ${id} has no history: Temporal may be removing it, as its retention is over`);
  return addChildren(read, own);
}

/** Adds the children that the parent's history does not hold in full; each is read from its own history. */
export async function addChildren(read: ReadRun, own: SolveTrace): Promise<SolveTrace> {
  const children = childrenToRead(own);
  const known = new Map<string, SolveTrace>();
  const reading = children.map(async (childId) => {
    // Leaves out a child that the server has not started yet.
    const child = await unlessNotFound(readTree(read, childId));
    if (child !== null) known.set(childId, child);
  });
  await Promise.all(reading);
  return withChildren(own, children, known);
}

function withChildren(own: SolveTrace, children: readonly string[], known: ReadonlyMap<string, SolveTrace>) {
  return children.reduce((whole, childId) => {
    const child = known.get(childId);
    return child ? withChild(whole, childId, child) : whole;
  }, own);
}

/**
 * Yields the trace of a run with all runs below it whenever something happens in any of them, until the run has ended.
 * @param signal ends a wait for news at once, with an error
 */
export async function* followTree(
  read: ReadRun,
  id: string,
  signal?: AbortSignal,
): AsyncGenerator<SolveTrace> {
  const latest = new Map<string, SolveTrace>();
  const over = new AbortController();
  // A caller that stops following leaves no poll behind.
  const following = AbortSignal.any([over.signal, ...(signal ? [signal] : [])]);
  const readers = new Readers();
  readers.add(id, read(id, following));
  try {
    for await (const news of readers.news()) {
      latest.set(news.id, news.trace);
      const own = latest.get(id);
      if (own === undefined) continue;
      const children = childrenToRead(own);
      for (const childId of children) readers.add(childId, followChild(read, childId, following));
      yield withChildren(own, children, latest);
      if (own.status !== 'running' && children.length === 0) return;
    }
  } finally {
    over.abort();
  }
}

/** Follows a child; waits up to ten seconds for the server to start it after its parent has asked. */
async function* followChild(read: ReadRun, id: string, signal: AbortSignal): AsyncGenerator<SolveTrace> {
  for (let looks = 0; looks < 40; looks += 1) {
    try {
      yield* followTree(read, id, signal);
      return;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await pause(250, null, { signal });
    }
  }
}

/** Returns the children that the run's history does not hold, running or cut off, and those with presumed calls. */
function childrenToRead({ rounds, calls }: SolveTrace): string[] {
  const known = new Set(calls.map(({ childId }) => childId));
  const steps = rounds.filter((round) => round.childId === null).flatMap((round) => round.steps);
  const asked = steps.filter(({ output, error }) => output === null || error !== null);
  const reviews = rounds.filter(
    (round) => isReview(round) && (round.decision === null || round.decision === 'failed'),
  );
  const children = [...asked, ...reviews].flatMap(({ childId }) => childId ?? []);
  const presuming = calls.filter(isPresumed).flatMap(({ childId }) => childId ?? []);
  return [...new Set([...children.filter((childId) => !known.has(childId)), ...presuming])];
}

/** Concurrent readers of several runs, one for each. */
class Readers {
  private readonly readers = new Map<string, AsyncIterator<SolveTrace>>();
  private readonly pending = new Map<string, Promise<{ id: string; next: IteratorResult<SolveTrace> }>>();

  add(id: string, traces: AsyncIterable<SolveTrace>): void {
    if (this.readers.has(id)) return;
    const reader = traces[Symbol.asyncIterator]();
    this.readers.set(id, reader);
    this.read(id, reader);
  }

  async *news(): AsyncGenerator<{ id: string; trace: SolveTrace }> {
    while (this.pending.size > 0) {
      const { id, next } = await Promise.race(this.pending.values());
      this.pending.delete(id);
      if (next.done === true) continue;
      const reader = this.readers.get(id);
      if (reader !== undefined) this.read(id, reader);
      yield { id, trace: next.value };
    }
  }

  private read(id: string, reader: AsyncIterator<SolveTrace>): void {
    const reading = reader.next().then((next) => ({ id, next }));
    // Avoids an unhandled rejection when nobody waits for news any more.
    reading.catch(() => undefined);
    this.pending.set(id, reading);
  }
}

/**
 * Completes the own calls of an ended run from the ledger: the server does not know the attempts of an activity that
 * was cancelled between two of them, nor those of a process that was lost. Presumed calls are dropped: if one was sent,
 * the ledger has a row.
 */
export async function addLedger(trace: SolveTrace, store: Store): Promise<SolveTrace> {
  const settled = new Set(trace.calls.filter(({ nanoUsd }) => nanoUsd !== null).map(attemptOf));
  const keys = (await rowKeys(store, trace.runId)).filter((key) => !settled.has(attemptOf(rowPlace(key))));
  if (keys.length === 0 && !trace.calls.some(isPresumed)) return trace;
  const rows = (await Promise.all(keys.map((key) => readRow(store, key)))).filter((row) => row !== null);
  const found = new Map(rows.map((row) => [attemptOf(row), callOf(row)]));
  const own = trace.calls.filter((call) => call.childId === undefined && !isPresumed(call));
  const ofChildren = trace.calls.filter(({ childId }) => childId !== undefined);
  const known = own.map((call) => {
    const row = found.get(attemptOf(call));
    found.delete(attemptOf(call));
    // The ledger has no error for a reply that is no valid plan: its provider did nothing wrong.
    return row ? { ...row, error: row.error ?? call.error } : call;
  });
  const calls = [...known, ...found.values(), ...ofChildren];
  return { ...trace, calls, ...totalOf(calls) };
}

function attemptOf({ callId, attempt }: Pick<Call, 'callId' | 'attempt'>): string {
  return `${callId}/${attempt}`;
}
