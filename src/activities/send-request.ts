import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type { Problem } from '../protocol/call';
import { FAILURES } from '../protocol/failures';
import type { Outcome } from './attempt';
import type { Dependencies } from './dependencies';
import { whileHeartbeating } from './heartbeat';
import type { ModelCall } from './model-call';
import { toProviderFailure, type CallContext, type ProviderFailure } from './models/failure';
import { judgeReply } from './models/judge-reply';
import type { ModelReply, ModelRequest } from './models/model';

/** What became of one HTTP request. */
export type SentRequest =
  | { readonly kind: 'answered'; readonly reply: ModelReply }
  | {
      readonly kind: 'failed';
      readonly failure: ProviderFailure;
      /** What came back all the same: a refusal, a cut or an empty answer. */
      readonly reply: ModelReply | null;
      /** Text that came before a length stop. */
      readonly partial: string | null;
    }
  | {
      /** Broken off by us, not by the provider: what was already generated may be billed. */
      readonly kind: 'broken-off';
      readonly problem: Problem;
      readonly error: Error;
    };

/** Sends one HTTP request and waits for its end, with heartbeats. Never throws, whatever the provider does. */
export async function sendRequest(
  { complete }: Dependencies,
  call: ModelCall,
  apiKey: string | null,
): Promise<SentRequest> {
  const { cancellationSignal } = Context.current();
  const signal = AbortSignal.any([cancellationSignal, AbortSignal.timeout(call.timeoutMs)]);
  const context = contextOf(call, apiKey, signal);
  try {
    const reply = await whileHeartbeating(() => complete(requestOf(call, apiKey, signal)));
    const judgement = judgeReply(reply, context);
    if (judgement.usable) return { kind: 'answered', reply };
    return { kind: 'failed', reply, failure: judgement.failure, partial: judgement.partial };
  } catch (error) {
    const failure = cancellationSignal.aborted ? null : toProviderFailure(error, context);
    return failure === null ? brokenOff() : { kind: 'failed', failure, reply: null, partial: null };
  }
}

/** How a finished request is booked. */
export function outcomeOf(sent: SentRequest): Outcome {
  switch (sent.kind) {
    case 'answered':
      return {
        error: null,
        usage: sent.reply.usage,
        billed: 'yes',
        reportedNanoUsd: sent.reply.reportedNanoUsd,
      };
    case 'failed': {
      const { type, message, billed } = sent.failure;
      const usage = sent.reply?.usage ?? null;
      return {
        error: { type, message },
        usage,
        billed,
        reportedNanoUsd: sent.reply?.reportedNanoUsd ?? null,
      };
    }
    case 'broken-off':
      return { error: sent.problem, usage: null, billed: 'unknown', reportedNanoUsd: null };
  }
}

function contextOf(call: ModelCall, secret: string | null, signal: AbortSignal): CallContext {
  const { step, worker, timeoutMs, card } = call;
  const { provider, model } = card;
  return { worker: step === null ? null : worker, provider, model, signal, secret, timeoutMs };
}

function requestOf(call: ModelCall, apiKey: string | null, signal: AbortSignal): ModelRequest {
  const { card, messages, maxOutputTokens, outputSchema, seed } = call;
  return {
    card,
    messages,
    maxOutputTokens,
    apiKey,
    signal,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(seed === undefined ? {} : { seed }),
  };
}

function brokenOff(): SentRequest {
  if (Context.current().cancellationDetails?.workerShutdown === true) {
    const problem = {
      type: FAILURES.workerStopped,
      message: 'the worker process was stopped during the call',
    };
    return {
      kind: 'broken-off',
      problem,
      error: ApplicationFailure.retryable(problem.message, problem.type),
    };
  }
  const problem = { type: FAILURES.cancelled, message: 'the run was cancelled during the call' };
  return { kind: 'broken-off', problem, error: new CancelledFailure(problem.message) };
}
