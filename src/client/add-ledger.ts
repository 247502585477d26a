import type { Call, SolveTrace } from '../protocol/solve';
import { callOf, readRow, rowKeys, rowPlace } from '../store/ledger';
import type { Store } from '../store/store';
import { isPresumed } from '../trace/events';
import { totalOf } from '../trace/reduce';

/**
 * The trace of a run that has ended, with its own calls as the ledger has them. The server tells no one of the attempts
 * of an activity that was cancelled between two of them, nor of a process that was given up for lost and went on. What
 * was presumed to be sent to a model goes: if it was, there is a row.
 *
 * Only the names of the rows are listed; a row is read where the trace does not have its call, or not its cost.
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
    // A reply that is no plan is no failure to the ledger: its provider did nothing wrong.
    return row ? { ...row, error: row.error ?? call.error } : call;
  });
  const calls = [...known, ...found.values(), ...ofChildren];
  return { ...trace, calls, ...totalOf(calls) };
}

function attemptOf({ callId, attempt }: Pick<Call, 'callId' | 'attempt'>): string {
  return `${callId}/${attempt}`;
}
