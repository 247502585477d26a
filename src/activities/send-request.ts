import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type { ActivityCancellationDetails } from '@temporalio/common';
import type { Problem } from '../protocol/call';
import { FAILURES } from '../protocol/failures';
import type { Dependencies } from './dependencies';
import { timeLimit, whileHeartbeating } from './heartbeat';
import type { AttemptOutcome } from './ledger-row';
import type { ModelCall } from './model-call';
import { type CallContext, judgeReply, type ProviderFailure, toProviderFailure } from './models/failure';
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
      /** Holds the usage, where the provider told it all the same. */
      readonly reply: ModelReply | null;
    };

/** By what a provider knows a request: whose it is, and which. */
export interface RequestCredentials {
  readonly apiKey: string | null;
  readonly callId: string;
}

/** Sends one HTTP request and waits for its end, with heartbeats. Never throws, whatever the provider does. */
export async function sendRequest(
  { complete }: Pick<Dependencies, 'complete'>,
  call: ModelCall,
  credentials: RequestCredentials,
): Promise<SentRequest> {
  const { cancellationSignal } = Context.current();
  const signal = AbortSignal.any([cancellationSignal, timeLimit(call.timeoutMs)]);
  const context = contextOf(call, credentials.apiKey, signal);
  try {
    return repliedWith(
      await whileHeartbeating(() => complete(requestOf(call, credentials, signal))),
      context,
    );
  } catch (error) {
    return brokenBy(error, context, cancellationSignal);
  }
}

/** What a reply comes to: an answer, or a failure that was billed. */
export function repliedWith(reply: ModelReply, context: CallContext): SentRequest {
  const judgement = judgeReply(reply, context);
  if (judgement.usable) return { kind: 'answered', reply };
  return { kind: 'failed', reply, failure: judgement.failure, partial: judgement.partial };
}

/** What an error in place of a reply comes to: the provider's failure, or our own end. */
export function brokenBy(error: unknown, context: CallContext, cancellation: AbortSignal): SentRequest {
  const failure = cancellation.aborted ? null : toProviderFailure(error, context);
  return failure === null ? brokenOff(null) : { kind: 'failed', failure, reply: null, partial: null };
}

/** How a finished request is booked. */
export function outcomeOf(sent: SentRequest): AttemptOutcome {
  const { usage = null, reportedNanoUsd = null } = sent.reply ?? {};
  return { ...verdictOf(sent), usage, reportedNanoUsd };
}

function verdictOf(sent: SentRequest): Pick<AttemptOutcome, 'error' | 'billed'> {
  switch (sent.kind) {
    case 'answered':
      return { error: null, billed: 'yes' };
    case 'failed': {
      const { type, message, billed } = sent.failure;
      return { error: { type, message }, billed };
    }
    case 'broken-off':
      return { error: sent.problem, billed: sent.reply?.usage ? 'yes' : 'unknown' };
  }
}

/** Who is asked, for the sentences of failures. */
export function contextOf(call: ModelCall, secret: string | null, signal: AbortSignal): CallContext {
  const { step, worker, timeoutMs, card } = call;
  const { provider, model } = card;
  return { worker: step === null ? null : worker, provider, model, signal, secret, timeoutMs };
}

/** The call as the providers take it. */
export function requestOf(
  call: ModelCall,
  { apiKey, callId }: RequestCredentials,
  signal: AbortSignal,
): ModelRequest {
  const { card, messages, maxOutputTokens, outputSchema, seed } = call;
  return {
    card,
    messages,
    maxOutputTokens,
    apiKey,
    callId,
    signal,
    outputSchema,
    seed,
  };
}

/** The call was stopped by its run's cancellation or by the end of this process; `reply` as far as it came. */
export function brokenOff(reply: ModelReply | null): SentRequest {
  const stopped = whyStopped(Context.current().cancellationDetails);
  if (stopped !== null) {
    const problem = { type: FAILURES.workerStopped, message: stopped };
    return {
      kind: 'broken-off',
      problem,
      reply,
      error: ApplicationFailure.retryable(problem.message, problem.type),
    };
  }
  const problem = { type: FAILURES.cancelled, message: 'the run was cancelled during the call' };
  return { kind: 'broken-off', problem, reply, error: new CancelledFailure(problem.message) };
}

/** Why this process stopped though the run was not cancelled; null where it was. */
function whyStopped(details: ActivityCancellationDetails | undefined): string | null {
  if (details?.workerShutdown === true) return 'the worker process was stopped during the call';
  // Another attempt may be under way by now.
  const isGivenUp = details?.notFound === true || details?.timedOut === true;
  return isGivenUp
    ? 'Temporal had not heard of the worker process for too long, and gave up this attempt'
    : null;
}
