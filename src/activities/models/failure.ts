import { factsOf } from '../../errors';
import { FAILURES, type FailureType } from '../../protocol/failures';
import {
  type Consequence,
  CONSEQUENCES,
  diagnose,
  type Diagnosis,
  type ProviderFailureType,
} from './diagnose';
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
export interface CallFailure extends Omit<Consequence, 'remedy'> {
  readonly type: FailureType;
  readonly message: string;
  readonly nextRetryDelayMs?: number | null;
}

/**
 * Maps whatever a provider's SDK threw to our failure types, all vendors and all kinds of error in this one place; null
 * where the run was cancelled, which is no failure of the provider's.
 */
export function toProviderFailure(error: unknown, context: CallContext): CallFailure | null {
  const { signal } = context;
  if (!signal.aborted) return describeFailure(diagnose(error), context);
  return factsOf(signal.reason).code === 'TimeoutError' ? describeFailure(lateFor(context), context) : null;
}

export function lateFor({ timeoutMs }: CallContext): Diagnosis {
  return { type: FAILURES.timeout, happened: `gave no answer within ${timeoutMs / 1000} s`, reason: '' };
}

/** Puts a diagnosis into one sentence, without the key, and adds what follows from its type. */
export function describeFailure(diagnosis: Diagnosis, context: CallContext): CallFailure {
  const { type, happened, reason, nextRetryDelayMs = null } = diagnosis;
  const { remedy, retryable, billed } = { ...CONSEQUENCES[type], ...diagnosis };
  const { worker, provider, model, secret } = context;
  const who = worker === null ? 'the Conductor' : `worker ${worker}`;
  const why = redact(reason, secret);
  return {
    type,
    message: `${who} (${provider} ${model}) ${happened}${why === '' ? '' : `: ${why}`}. ${remedy}`,
    retryable,
    nextRetryDelayMs: retryable ? nextRetryDelayMs : null,
    billed,
  };
}

/** The outcome of a request that is over. */
export type Ended = Answered | Failed;

export interface Answered {
  readonly kind: 'answered';
  readonly reply: ModelReply;
}

export interface Failed {
  readonly kind: 'failed';
  readonly failure: CallFailure;
  /** Reply that came all the same: a refusal, a cut or an empty answer, or usage alone. */
  readonly reply: ModelReply | null;
}

/** A failure beside what there was of a reply: usage that the vendor reports is billed, whatever the failure. */
export function failedWith(failure: CallFailure, reply: ModelReply | null): Failed {
  return { kind: 'failed', failure: reply?.usage ? { ...failure, billed: 'yes' } : failure, reply };
}

/** Decides whether a reply is an answer. A refusal, a cut answer and an empty one are not, and were billed. */
export function judgeReply(reply: ModelReply, context: CallContext): Ended {
  const { text, finish, refusal } = reply;
  const isBlank = text.trim() === '';
  if (finish === 'stop' && !isBlank) return { kind: 'answered', reply };
  const fail = (type: ProviderFailureType, happened: string, reason = ''): Failed => {
    const failure = describeFailure({ type, happened, reason, billed: 'yes' }, context);
    return { kind: 'failed', failure, reply };
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
