import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { FAILURES } from '../protocol/failures';
import type { Outcome } from './attempt';
import type { Dependencies } from './dependencies';
import { whileHeartbeating } from './heartbeat';
import type { ModelCall } from './model-call';
import { toProviderFailure, type ProviderFailure } from './models/failure';
import { judgeReply } from './models/judge-reply';
import type { ModelReply } from './models/model';

/** A request that brought no usable answer. */
export interface FailedRequest {
  readonly kind: 'failed';
  readonly outcome: Outcome & { readonly error: NonNullable<Outcome['error']> };
  readonly retryable: boolean;
  readonly nextRetryDelayMs: number | null;
  /** Text that came before a length stop; empty if none. */
  readonly partial: string;
  readonly dropped: readonly string[];
  /** Set when the request was broken off by us, not by the provider. */
  readonly rethrow?: Error;
}

/** What became of one HTTP request. */
export type SentRequest = { readonly kind: 'answered'; readonly reply: ModelReply } | FailedRequest;

/** Sends one HTTP request and waits for it, with heartbeats; never throws, whatever the provider does. */
export async function sendRequest(
  { complete }: Dependencies,
  call: ModelCall,
  apiKey: string | null,
): Promise<SentRequest> {
  const { cancellationSignal } = Context.current();
  const timeout = AbortSignal.timeout(call.card.timeoutMs);
  const signal = AbortSignal.any([cancellationSignal, timeout]);
  const { card, messages, maxOutputTokens, outputSchema, seed } = call;
  const request = {
    card,
    messages,
    maxOutputTokens,
    apiKey,
    signal,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(seed === undefined ? {} : { seed }),
  };
  try {
    const reply = await whileHeartbeating(() => complete(request));
    return judge(call, reply);
  } catch (error) {
    return cancellationSignal.aborted ? brokenOff() : refusedBy(call, apiKey, error, timeout.aborted);
  }
}
