import { nameOfCard } from '../../config/cards';
import { errorFactsOf } from '../../errors';
import { FAILURES, type FailureType } from '../../protocol/failures';
import {
  CONSEQUENCES,
  type Consequence,
  diagnose,
  type Diagnosis,
  type ProviderFailureType,
} from './diagnose';
import type { ModelReply, ModelRequest } from './model';
import { redact } from './redact';
import { excessOfCalls, isWholeTurn } from './tool-calls';

/** A failed call in our own words, as plain data and free of secrets. */
export interface ProviderFailure extends Omit<Consequence, 'remedy'> {
  readonly type: FailureType;
  readonly message: string;
  readonly nextRetryDelayMs?: number | null;
}

export type Ended = Answered | Failed;

export interface Answered {
  readonly kind: 'answered';
  readonly reply: ModelReply;
}

export interface Failed {
  readonly kind: 'failed';
  readonly failure: ProviderFailure;
  /** Reply that arrived despite the failure: a refusal, a cut or empty answer, or only usage. */
  readonly reply: ModelReply | null;
}

export type SentRequest = Pick<ModelRequest, 'card' | 'apiKey' | 'signal' | 'timeoutMs' | 'maxAnswerTokens'>;

/** Maps whatever a provider's SDK threw to our failure types. Returns null if the run was cancelled. */
export function toProviderFailure(error: unknown, asked: SentRequest): ProviderFailure | null {
  const { signal } = asked;
  if (!signal.aborted) return describeFailure(diagnose(error), asked);
  return errorFactsOf(signal.reason).code === 'TimeoutError' ? tooLate(asked) : null;
}

export function tooLate(asked: SentRequest): ProviderFailure {
  const happened = `gave no answer within ${asked.timeoutMs / 1000} s`;
  return describeFailure({ type: FAILURES.timeout, happened, reason: '' }, asked);
}

/** Puts a diagnosis into one sentence, without the key, and adds the consequences of its type. */
export function describeFailure(diagnosis: Diagnosis, { card, apiKey }: SentRequest): ProviderFailure {
  const { type, happened, reason, nextRetryDelayMs = null } = diagnosis;
  const { remedy, retryable, billed, health } = { ...CONSEQUENCES[type], ...diagnosis };
  const why = redact(reason, apiKey);
  return {
    type,
    message: `${nameOfCard(card)} ${happened}${why === '' ? '' : `: ${why}`}. ${remedy}`,
    retryable,
    nextRetryDelayMs: retryable ? nextRetryDelayMs : null,
    billed,
    health,
  };
}

/** Returns a failure with the reply so far. Usage that the vendor reports is billed, whatever the failure. */
export function failedWith(failure: ProviderFailure, reply: ModelReply | null): Failed {
  return { kind: 'failed', failure: reply?.usage ? { ...failure, billed: 'yes' } : failure, reply };
}

type Fail = (type: ProviderFailureType, happened: string, more?: Partial<Diagnosis>) => Failed;

/**
 * Decides whether a reply is an answer. A refusal, an empty reply or one that was cut off is not, unless it was cut
 * off at `maxAnswerTokens`. All of them were billed.
 */
export function judgeReply(reply: ModelReply, asked: SentRequest): Ended {
  const { text, turn, finish } = reply;
  const { maxAnswerTokens } = asked;
  const isWhole = finish === 'stop' || (finish === 'length' && maxAnswerTokens !== undefined);
  const fail: Fail = (type, happened, more = {}) => {
    const failure = describeFailure({ type, happened, reason: '', billed: 'yes', ...more }, asked);
    return { kind: 'failed', failure, reply };
  };
  if (turn !== undefined && isWholeTurn(turn, finish)) {
    const excess = excessOfCalls(turn);
    return excess === null ? { kind: 'answered', reply } : fail(FAILURES.badResponse, excess);
  }
  if (isWhole && text.trim() !== '') return { kind: 'answered', reply };
  return fail(...whyNoAnswer(reply, maxAnswerTokens));
}

function whyNoAnswer(reply: ModelReply, maxAnswerTokens?: number): Parameters<Fail> {
  const { text, finish, refusal } = reply;
  if (finish === 'refusal') return [FAILURES.refused, 'declined', { reason: refusal ?? '' }];
  if (finish === 'stop') return [FAILURES.badResponse, ...emptinessOf(reply)];
  return [FAILURES.truncated, ...cutOf(text.trim() === '', maxAnswerTokens)];
}

function cutOf(isBlank: boolean, maxAnswerTokens?: number): [happened: string, Partial<Diagnosis>?] {
  if (maxAnswerTokens !== undefined) {
    const happened = `used up the ${maxAnswerTokens} output tokens of maxAnswerTokens before the first word`;
    return [happened, { remedy: "Raise that, or lower the worker's effort." }];
  }
  if (isBlank) return ['used up its output tokens before the first word'];
  return ['reached its output limit before the answer was whole'];
}

/** Says of an empty reply whether the model thought at least: it then needs more room, or less effort. */
function emptinessOf({ thoughts = '', usage }: ModelReply): [happened: string, Partial<Diagnosis>?] {
  const hasThought = thoughts.trim() !== '' || (usage?.reasoningTokens ?? 0) > 0;
  if (!hasThought) return ['sent an empty answer'];
  return ['sent its thoughts, and no answer', { remedy: CONSEQUENCES[FAILURES.truncated].remedy }];
}
