import { ApplicationFailure } from '@temporalio/activity';
import { type CallFailureDetails, FAILURES } from '../protocol/failures';
import { callOf, type LedgerRow } from '../store/ledger';
import type { ModelCall } from './model-call';

/** What the workflow learns from a call that failed: every request sent for it, and when. */
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
