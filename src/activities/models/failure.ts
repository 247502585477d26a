import { ApplicationFailure } from '@temporalio/common';
import { type CallFailureDetails, FAILURES } from '../../protocol/failures';
import { CONSEQUENCES, type Consequence, type ProviderFailureType } from './consequence';
import { diagnose } from './diagnose';
import type { Diagnosis } from './diagnosis';
import { isErrorLike } from './error-like';
import { redact } from './redact';

/** Who was asked, and with what. */
export interface CallContext {
  /** The worker's id; null for the Conductor. */
  readonly worker: string | null;
  readonly provider: string;
  readonly model: string;
  /** The signal the request was sent with: aborted with a `TimeoutError` when its time was up, else by cancellation. */
  readonly signal: AbortSignal;
  /** The key's value, so that it can be kept out of the message; null where there is none. */
  readonly secret: string | null;
  readonly timeoutMs: number;
}

/** A failed call in our own words, as plain data and free of secrets. */
export interface ProviderFailure extends Omit<Consequence, 'remedy'> {
  readonly type: ProviderFailureType;
  /** Who did what, why, and what to do about it. */
  readonly message: string;
  /** When the provider wants to be asked again, in milliseconds; null where it did not say. */
  readonly nextRetryDelayMs: number | null;
}

/**
 * Maps whatever a provider's SDK threw to our failure types, all vendors and all kinds of error in this one place.
 *
 * Returns null where the run was cancelled: that is no failure of the provider's, so rethrow `signal.reason`.
 */
export function toProviderFailure(error: unknown, context: CallContext): ProviderFailure | null {
  const { signal, timeoutMs } = context;
  if (!signal.aborted) return describeFailure(diagnose(error), context);
  if (!isTimeout(signal.reason)) return null;
  const happened = `gave no answer within ${timeoutMs / 1000} s`;
  return describeFailure({ type: FAILURES.timeout, happened, reason: '' }, context);
}

/** Puts a diagnosis into one sentence, without the key, and adds what follows from its type. */
export function describeFailure(diagnosis: Diagnosis, context: CallContext): ProviderFailure {
  const { type, happened, reason, nextRetryDelayMs = null, final = false } = diagnosis;
  const { remedy, retryable, billed } = { ...CONSEQUENCES[type], ...diagnosis };
  const { worker, provider, model, secret } = context;
  const who = worker === null ? 'the Conductor' : `worker ${worker}`;
  const why = redact(reason, secret).replace(/[\s.]+$/, '');
  return {
    type,
    message: `${who} (${provider} ${model}) ${happened}${why === '' ? '' : `: ${why}`}. ${remedy}`,
    retryable: retryable && !final,
    nextRetryDelayMs: retryable && !final ? nextRetryDelayMs : null,
    billed,
  };
}

/** The same as Temporal carries it. The SDK's error is not attached: it may hold the key, and its class says nothing there. */
export function toApplicationFailure(
  { type, message, retryable, nextRetryDelayMs }: ProviderFailure,
  details: CallFailureDetails,
): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    nonRetryable: !retryable,
    details: [details],
    ...(nextRetryDelayMs !== null && { nextRetryDelay: nextRetryDelayMs }),
  });
}

/** As `AbortSignal.timeout` gives it. */
function isTimeout(reason: unknown): boolean {
  return isErrorLike(reason) && reason.name === 'TimeoutError';
}
