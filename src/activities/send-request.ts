import { Context } from '@temporalio/activity';
import type { Problem } from '../protocol/call';
import { FAILURES } from '../protocol/failures';
import type { Dependencies } from './dependencies';
import { withinLimit } from './heartbeat';
import type { AttemptOutcome } from './ledger-row';
import type { ModelCall } from './model-call';
import { type CallContext, type Ended, judgeReply, toProviderFailure } from './models/failure';
import type { ModelReply, ModelRequest } from './models/model';

/** Outcome of one HTTP request. */
export type SentRequest =
  | Ended
  | {
      /** Broken off by us, not by the provider: what was already generated may be billed. */
      readonly kind: 'broken-off';
      readonly problem: Problem;
      /** False where it was broken off before anything went out. */
      readonly wasSent: boolean;
      /** Holds the usage, where the provider reported it all the same. */
      readonly reply: ModelReply | null;
    };

/** Credentials by which a provider knows a request. */
export type RequestCredentials = Required<Pick<ModelRequest, 'apiKey' | 'callId'>>;

/** Sends one HTTP request and waits for its end. Never throws, whatever the provider does. */
export async function sendRequest(
  { complete }: Pick<Dependencies, 'complete'>,
  call: ModelCall,
  credentials: RequestCredentials,
): Promise<SentRequest> {
  const { cancellationSignal } = Context.current();
  return withinLimit(call.timeoutMs, async (limit) => {
    const signal = AbortSignal.any([cancellationSignal, limit]);
    const context = contextOf(call, credentials.apiKey, signal);
    try {
      return judgeReply(await complete(requestOf(call, credentials, signal)), context);
    } catch (error) {
      return brokenBy(error, context, cancellationSignal);
    }
  });
}

/** Turns an error in place of a reply into the provider's failure, or our own end. */
export function brokenBy(error: unknown, context: CallContext, cancellation: AbortSignal): SentRequest {
  const failure = cancellation.aborted ? null : toProviderFailure(error, context);
  return failure === null ? brokenOff(null) : { kind: 'failed', failure, reply: null, partial: null };
}

/** How a finished request is booked. */
export function outcomeOf(sent: SentRequest): AttemptOutcome {
  const { usage = null, reportedNanoUsd = null } = sent.reply ?? {};
  switch (sent.kind) {
    case 'answered':
      return { error: null, billed: 'yes', usage, reportedNanoUsd };
    case 'failed': {
      const { type, message, billed } = sent.failure;
      return { error: { type, message }, billed, usage, reportedNanoUsd };
    }
    case 'broken-off': {
      const billed = sent.wasSent ? 'unknown' : 'no';
      return { error: sent.problem, billed: usage === null ? billed : 'yes', usage, reportedNanoUsd };
    }
  }
}

/** Names the called model for the sentences of failures. */
export function contextOf(call: ModelCall, secret: string | null, signal: AbortSignal): CallContext {
  const { step, worker, timeoutMs, card } = call;
  const { provider, model } = card;
  return { worker: step === null ? null : worker, provider, model, signal, secret, timeoutMs };
}

/** The call as the providers take it. */
export function requestOf(
  { card, messages, sharedCharacters, maxOutputTokens, outputSchema, seed }: ModelCall,
  { apiKey, callId }: RequestCredentials,
  signal: AbortSignal,
): ModelRequest {
  return { card, messages, sharedCharacters, maxOutputTokens, outputSchema, seed, apiKey, callId, signal };
}

type BrokenOff = Extract<SentRequest, { kind: 'broken-off' }>;

/** The call was stopped by its run's cancellation or by the end of this process; `reply` as far as it came. */
export function brokenOff(reply: ModelReply | null, wasSent = true): BrokenOff {
  const { workerShutdown, notFound, timedOut } = Context.current().cancellationDetails ?? {};
  if (workerShutdown !== true && notFound !== true && timedOut !== true) {
    const problem = { type: FAILURES.cancelled, message: 'the run was cancelled during the call' };
    return { kind: 'broken-off', problem, wasSent, reply };
  }
  const message = workerShutdown
    ? 'the worker process was stopped during the call'
    : // Another attempt may be under way by now.
      'Temporal had not heard of the worker process for too long, and gave up this attempt';
  return { kind: 'broken-off', problem: { type: FAILURES.workerStopped, message }, wasSent, reply };
}
