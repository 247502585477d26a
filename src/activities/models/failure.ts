import { ApplicationFailure } from '@temporalio/common';
import { type CallFailureDetails, FAILURES } from '../../protocol/failures';
import {
  type Consequence,
  CONSEQUENCES,
  diagnose,
  type Diagnosis,
  type ProviderFailureType,
} from './diagnose';
import { isErrorLike } from './http-error';
import type { ModelReply } from './model';
import { redact } from './redact';

/** Provider, worker and model that were called. */
export interface CallContext {
  /** The worker's id; null for the Conductor. */
  readonly worker: string | null;
  readonly provider: string;
  readonly model: string;
  /** The signal the request was sent with: aborted with a `TimeoutError` when its time was up, else by cancellation. */
  readonly signal: AbortSignal;
  /** The key's value, to keep it out of the message; null where there is none. */
  readonly secret: string | null;
  readonly timeoutMs: number;
}

/** A failed call in our own words, as plain data and free of secrets. */
export interface ProviderFailure extends Omit<Consequence, 'remedy'> {
  readonly type: ProviderFailureType;
  readonly message: string;
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
  const reason: unknown = signal.reason;
  if (!isErrorLike(reason) || reason.name !== 'TimeoutError') return null;
  const happened = `gave no answer within ${timeoutMs / 1000} s`;
  return describeFailure({ type: FAILURES.timeout, happened, reason: '' }, context);
}

/** Puts a diagnosis into one sentence, without the key, and adds what follows from its type. */
export function describeFailure(diagnosis: Diagnosis, context: CallContext): ProviderFailure {
  const { type, happened, reason, nextRetryDelayMs = null, final = false } = diagnosis;
  const { remedy, retryable, billed } = { ...CONSEQUENCES[type], ...diagnosis };
  const { worker, provider, model, secret } = context;
  const who = worker === null ? 'the Conductor' : `worker ${worker}`;
  const why = redact(reason, secret).replace(/(?<![\s.])[\s.]{1,300}$/, '');
  return {
    type,
    message: `${who} (${provider} ${model}) ${happened}${why === '' ? '' : `: ${why}`}. ${remedy}`,
    retryable: retryable && !final,
    nextRetryDelayMs: retryable && !final ? nextRetryDelayMs : null,
    billed,
  };
}

/** Converts the failure for Temporal, without the SDK's error: it may hold the key, and its class means nothing there. */
export function toApplicationFailure(
  { type, message, retryable, nextRetryDelayMs }: ProviderFailure,
  details: CallFailureDetails,
): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    nonRetryable: !retryable,
    details: [details],
    nextRetryDelay: nextRetryDelayMs ?? undefined,
  });
}

/** The outcome of a request that the provider ended. */
export type Ended = { readonly kind: 'answered'; readonly reply: ModelReply } | Failed;

interface Failed {
  readonly kind: 'failed';
  readonly failure: ProviderFailure;
  /** Reply that came all the same: a refusal, a cut or an empty answer. */
  readonly reply: ModelReply | null;
  /** Text that came before a length stop. */
  readonly partial: string | null;
}

/** Decides whether a reply is an answer. A refusal, a cut answer and an empty one are not, and were billed. */
export function judgeReply(reply: ModelReply, context: CallContext): Ended {
  const { text, finish, refusal } = reply;
  const isBlank = text.trim() === '';
  if (finish === 'stop' && !isBlank) return { kind: 'answered', reply };
  const partial = finish === 'length' && !isBlank ? text : null;
  const fail = (type: ProviderFailureType, happened: string, reason = ''): Failed => {
    const failure = describeFailure({ type, happened, reason }, context);
    return { kind: 'failed', failure: { ...failure, billed: 'yes' }, reply, partial };
  };
  if (finish === 'refusal') return fail(FAILURES.refused, 'declined', refusal ?? '');
  if (finish === 'stop') return fail(FAILURES.badResponse, 'sent an empty answer');
  return fail(
    FAILURES.truncated,
    isBlank
      ? 'used up its output tokens before the first word'
      : 'reached its output limit before the answer was whole',
  );
}
