import { ApplicationFailure, type Info } from '@temporalio/activity';
import { chargeOf, savedByCache } from '../budget/nano-usd';
import type { BookedCall } from '../protocol/activity-contract';
import type { Problem, Usage } from '../protocol/call';
import { type CallFailureDetails, FAILURES } from '../protocol/failures';
import { callOf, createRow, type LedgerRow, type OpenRow, writeRow } from '../store/ledger';
import type { Store } from '../store/store';
import type { ModelCall } from './model-call';

/** Fields that every row of a call begins with. */
export function openRowOf(
  { rootId, purpose, round, step, worker, card }: ModelCall,
  callId: string,
  { workflowExecution }: Pick<Info, 'workflowExecution'>,
): OpenRow {
  const { workflowId = '', runId = '' } = workflowExecution ?? {};
  const { model, priceVersion } = card;
  const unknown = { error: null, usage: null, nanoUsd: null, endedAt: null };
  return { callId, rootId, workflowId, runId, purpose, round, step, worker, model, priceVersion, ...unknown };
}

/**
 * Writes the row of a request that is about to be sent. It stays open for good if this process dies; null where another
 * live attempt took its number.
 */
export async function openRow(store: Store, blank: OpenRow, attempt: number): Promise<LedgerRow | null> {
  const row: LedgerRow = { ...blank, attempt, startedAt: new Date().toISOString() };
  return (await createRow(store, row)) ? row : null;
}

/**
 * Books a call that the workflow makes by itself: opens its row, or completes it. An open row holds the worst case. One
 * that is complete is never opened again, however late an attempt to open it comes.
 */
export async function bookCall(
  store: Store,
  { rootId, call, startedAt, endedAt }: BookedCall,
  { workflowExecution }: Pick<Info, 'workflowExecution'>,
): Promise<void> {
  const { workflowId = '', runId = '' } = workflowExecution ?? {};
  const row = { ...call, rootId, workflowId, runId, priceVersion: 'card', startedAt, endedAt };
  if (endedAt === null) await createRow(store, row);
  else await writeRow(store, row);
}

/** Outcome of a request, as far as money goes. */
export interface AttemptOutcome {
  readonly error: Problem | null;
  readonly usage: Usage | null;
  /** `no`: certainly free. `yes`: by its usage. `unknown`: the row stays without an amount. */
  readonly billed: 'no' | 'yes' | 'unknown';
  /** Charge reported by the provider; null if it reports none. */
  readonly reportedNanoUsd: number | null;
}

/** The row of a request that is over: answered, failed or cut off. */
export function closeRow(
  row: LedgerRow,
  call: ModelCall,
  outcome: AttemptOutcome,
): LedgerRow & { readonly endedAt: string } {
  const { error, usage, billed } = outcome;
  const saved = billed === 'yes' ? savedByCache(usage, call.card.price) : null;
  const nanoUsd = amountOf(call, outcome);
  const reported = billed === 'no' ? null : outcome.reportedNanoUsd;
  return {
    ...row,
    error,
    usage,
    nanoUsd,
    ...(reported !== null && reported !== nanoUsd && { reportedNanoUsd: reported }),
    ...(saved !== null && saved !== 0 && { savedNanoUsd: saved }),
    endedAt: new Date().toISOString(),
  };
}

function amountOf({ card }: ModelCall, { billed, usage, reportedNanoUsd }: AttemptOutcome): number | null {
  if (billed === 'no') return 0;
  if (billed === 'unknown' && reportedNanoUsd === null) return null;
  return chargeOf(usage, card.price, reportedNanoUsd);
}

/** Details of a failed call for the workflow: every request sent for it, and when. */
export function callDetails(rows: readonly LedgerRow[]): CallFailureDetails {
  const now = new Date().toISOString();
  const startedAt = rows[0]?.startedAt ?? now;
  const endedAt = rows.at(-1)?.endedAt ?? now;
  return { calls: rows.map(callOf), startedAt, endedAt };
}

/** The cap on requests is reached: the last failure becomes final. */
export function requestsSpent(call: ModelCall, rows: readonly LedgerRow[]): ApplicationFailure {
  const last = rows.at(-1)?.error;
  if (last == null) return processLost(call, rows);
  return ApplicationFailure.create({
    type: last.type,
    message: `gave up after ${rows.length} requests; the last: ${last.message}`,
    nonRetryable: true,
    details: [callDetails(rows)],
  });
}

/** The allowance for requests whose process is lost is used up: the workflow decides whether there is more. */
export function processLost(call: ModelCall, rows: readonly LedgerRow[]): ApplicationFailure {
  const lost = rows.filter(({ nanoUsd }) => nanoUsd === null).length;
  return ApplicationFailure.create({
    type: FAILURES.workerLost,
    message:
      `the process that asked ${call.worker} (${call.card.model}) was lost in mid-request ` +
      `${lost === 1 ? 'once' : `${lost} times`}; what it asked for may have been billed`,
    nonRetryable: true,
    details: [callDetails(rows)],
  });
}
