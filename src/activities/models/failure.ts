import { ApplicationFailure } from '@temporalio/common';
import { type CallFailureDetails, FAILURES } from '../../protocol/failures';
import {
  type Consequence,
  CONSEQUENCES,
  diagnose,
  type Diagnosis,
  type ProviderFailureType,
} from './diagnose';
import { isErrorLike, redact } from './http-error';
import type { ModelReply } from './model';

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

/** What a reply is worth: a text to go on with, or a failure that was billed all the same. */
export type Judgement =
  | { readonly usable: true; readonly text: string }
  | {
      readonly usable: false;
      readonly failure: ProviderFailure;
      /** What had arrived before a length stop; null where nothing had. */
      readonly partial: string | null;
    };

/**
 * Decides whether a reply is an answer. A refusal, a cut answer and an empty one are not, and their usage is known.
 */
export function judgeReply(reply: ModelReply, context: CallContext): Judgement {
  const { text, finish, refusal } = reply;
  const blank = text.trim() === '';
  const fail = (type: Parameters<typeof describeFailure>[0]['type'], happened: string, reason: string) =>
    describeFailure({ type, happened, reason }, context);
  if (finish === 'refusal') {
    return { usable: false, failure: fail(FAILURES.refused, 'declined', refusal ?? ''), partial: null };
  }
  if (finish === 'length') {
    const happened = blank
      ? 'used up its output tokens before the first word'
      : 'reached its output limit before the answer was whole';
    return { usable: false, failure: fail(FAILURES.truncated, happened, ''), partial: blank ? null : text };
  }
  if (!blank) return { usable: true, text };
  return {
    usable: false,
    failure: { ...fail(FAILURES.badResponse, 'sent an empty answer', ''), billed: 'yes' },
    partial: null,
  };
}
