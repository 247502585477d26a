import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { ConductorError } from '../errors';
import type { Problem } from '../protocol/solve';
import { type CallFailureDetails, FAILURES, type FailureType } from '../protocol/failures';
import { callOf, type LedgerRow } from '../store/ledger';
import { LostStoreError } from '../store/store';
import { OtherStoreError } from '../store/store-id';
import type { ModelCall } from './send-request';
import type { ProviderFailure } from './models/failure';

/** Failure types by error code; none of these errors goes away on a retry. */
const FINAL_TYPES: ReadonlyMap<string, FailureType> = new Map([
  ['MissingKey', FAILURES.authentication],
  ['Configuration', FAILURES.configuration],
  ['TextTooLarge', FAILURES.textTooLarge],
  ['TextNotFound', FAILURES.textNotFound],
]);

/**
 * Runs `work` and converts our own errors to failures, which say whether a retry can help.
 * @param details requests already sent for the call, if known; a failure without details counts as one request
 */
export async function asFailure<T>(work: () => T | Promise<T>, details?: CallFailureDetails): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isOfStore(error))
      throw ApplicationFailure.create({ message: error.message, type: FAILURES.storeUnavailable });
    if (error instanceof OtherStoreError)
      throw ApplicationFailure.create({ message: error.message, type: FAILURES.otherStore });
    const type = error instanceof ConductorError ? FINAL_TYPES.get(error.code) : undefined;
    if (type === undefined) throw error;
    const failure = { type, message: (error as Error).message, nonRetryable: true };
    throw ApplicationFailure.create({ ...failure, details: details && [details] });
  }
}

/**
 * Recognises a store's failure: a lost store, a system error, or a driver's wrapper of one. Every other expected error
 * has a name of its own.
 */
function isOfStore(error: unknown): error is Error {
  if (error instanceof LostStoreError) return true;
  const { name } = Object(error) as Partial<Error>;
  return name === 'Error' && ('code' in Object(error) || 'cause' in Object(error));
}

/** Returns the details of a failed call for the workflow: every request sent for it, and when. */
export function callDetails(rows: readonly LedgerRow[]): CallFailureDetails {
  const now = new Date().toISOString();
  const startedAt = rows[0]?.startedAt ?? now;
  const endedAt = rows.at(-1)?.endedAt ?? now;
  return { calls: rows.map(callOf), startedAt, endedAt };
}

/** Longest pause before a provider is asked again, whatever it asks for. */
const LONGEST_WAIT_MS = 10 * 60 * 1000;

/** Converts a failure for Temporal without the SDK's error: it may contain the key, and Temporal ignores its class. */
export function toError(
  failure: Problem & Pick<ProviderFailure, 'retryable' | 'nextRetryDelayMs'>,
  rows: readonly LedgerRow[],
  more: Pick<CallFailureDetails, 'partial' | 'thoughts' | 'dropped'> = {},
): Error {
  const { type, message, retryable, nextRetryDelayMs } = failure;
  const details = [{ ...callDetails(rows), ...more }];
  // A cancelled call also reports its requests to the run, since they may have been billed.
  if (type === FAILURES.cancelled) return new CancelledFailure(message, details);
  // The run's own time limit matters more than a distant date.
  const nextRetryDelay = nextRetryDelayMs == null ? undefined : Math.min(nextRetryDelayMs, LONGEST_WAIT_MS);
  return ApplicationFailure.create({ type, message, nonRetryable: !retryable, details, nextRetryDelay });
}

/** Returns the last failure as final, once the limit on requests is reached. */
export function requestsSpent(call: ModelCall, rows: readonly LedgerRow[]): Error {
  const last = rows.at(-1)?.error;
  if (last == null) return processLost(call, rows);
  const message = `gave up after ${rows.length} requests; the last one: ${last.message}`;
  return toError({ type: last.type, message, retryable: false }, rows);
}

/** Returns the failure for a used-up allowance of lost requests; the workflow decides whether to grant more. */
export function processLost(call: ModelCall, rows: readonly LedgerRow[]): Error {
  const lost = rows.filter(({ nanoUsd }) => nanoUsd === null).length;
  const message =
    `the process calling ${call.worker} (${call.card.model}) was lost during a request ` +
    `${lost === 1 ? 'once; the request' : `${lost} times; the requests`} may have been billed`;
  return toError({ type: FAILURES.workerLost, message, retryable: false }, rows);
}
