import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { ConductorError } from '../errors';
import type { Problem } from '../protocol/solve';
import { type CallFailureDetails, FAILURES, type FailureType } from '../protocol/failures';
import { callOf, type LedgerRow } from '../store/ledger';
import type { ModelCall } from './model-call';
import type { CallFailure } from './models/failure';

/** By the error's code: trying again helps against none of them. */
const FINAL_TYPES: ReadonlyMap<string, FailureType> = new Map([
  ['MissingKey', FAILURES.authentication],
  ['Configuration', FAILURES.configuration],
  ['TextTooLarge', FAILURES.textTooLarge],
  ['TextNotFound', FAILURES.textNotFound],
]);

/**
 * Gives our own errors their failure type, and says of each whether trying again can help.
 * @param details what was sent for the call before, where that is known: a failure without it counts as one request
 */
export async function asFailure<T>(work: () => T | Promise<T>, details?: CallFailureDetails): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isOfStore(error))
      throw ApplicationFailure.create({ message: error.message, type: FAILURES.storeUnavailable });
    const type = error instanceof ConductorError ? FINAL_TYPES.get(error.code) : undefined;
    if (type === undefined) throw error;
    const failure = { type, message: (error as Error).message, nonRetryable: true };
    throw ApplicationFailure.create({ ...failure, details: details && [details] });
  }
}

/** A system's error, or one that a driver made of it: all else that a call may meet has a name of its own. */
function isOfStore(error: unknown): error is Error {
  const { name } = Object(error) as Partial<Error>;
  return name === 'Error' && ('code' in Object(error) || 'cause' in Object(error));
}

/** Details of a failed call for the workflow: every request sent for it, and when. */
export function callDetails(rows: readonly LedgerRow[]): CallFailureDetails {
  const now = new Date().toISOString();
  const startedAt = rows[0]?.startedAt ?? now;
  const endedAt = rows.at(-1)?.endedAt ?? now;
  return { calls: rows.map(callOf), startedAt, endedAt };
}

/** Converts a failure for Temporal, without the SDK's error: it may hold the key, and its class means nothing there. */
export function toError(
  failure: Problem & Pick<CallFailure, 'retryable' | 'nextRetryDelayMs'>,
  rows: readonly LedgerRow[],
  more: Pick<CallFailureDetails, 'partial' | 'dropped'> = {},
): Error {
  const { type, message, retryable, nextRetryDelayMs } = failure;
  const details = [{ ...callDetails(rows), ...more }];
  // A cancelled call, too, tells its run what was sent for it: it may have been billed.
  if (type === FAILURES.cancelled) return new CancelledFailure(message, details);
  const nextRetryDelay = nextRetryDelayMs ?? undefined;
  return ApplicationFailure.create({ type, message, nonRetryable: !retryable, details, nextRetryDelay });
}

/** The cap on requests is reached: the last failure becomes final. */
export function requestsSpent(call: ModelCall, rows: readonly LedgerRow[]): Error {
  const last = rows.at(-1)?.error;
  if (last == null) return processLost(call, rows);
  const message = `gave up after ${rows.length} requests; the last: ${last.message}`;
  return toError({ type: last.type, message, retryable: false }, rows);
}

/** The allowance for requests whose process is lost is used up: the workflow decides whether there is more. */
export function processLost(call: ModelCall, rows: readonly LedgerRow[]): Error {
  const lost = rows.filter(({ nanoUsd }) => nanoUsd === null).length;
  const message =
    `the process that asked ${call.worker} (${call.card.model}) was lost in mid-request ` +
    `${lost === 1 ? 'once' : `${lost} times`}; what it asked for may have been billed`;
  return toError({ type: FAILURES.workerLost, message, retryable: false }, rows);
}
