import { Context } from '@temporalio/activity';
import { brokenOff } from './as-failure';
import type { Dependencies } from './dependencies';
import { withinLimit } from './heartbeat';
import { contextOf, type ModelCall, requestOf } from './model-call';
import { type CallContext, type Ended, judgeReply, toProviderFailure } from './models/failure';
import type { ModelRequest } from './models/model';

/** Sends one HTTP request and waits for its end. Never throws, whatever the provider does. */
export async function sendRequest(
  { complete }: Pick<Dependencies, 'complete'>,
  call: ModelCall,
  credentials: Pick<ModelRequest, 'apiKey' | 'callId'>,
): Promise<Ended> {
  const { cancellationSignal } = Context.current();
  return withinLimit(call.timeoutMs, async (limit) => {
    const signal = AbortSignal.any([cancellationSignal, limit]);
    const context = contextOf(call, credentials.apiKey, signal);
    try {
      return judgeReply(await complete(requestOf(call, { ...credentials, signal })), context);
    } catch (error) {
      return brokenBy(error, context);
    }
  });
}

/** Turns an error in place of a reply into the provider's failure, or our own end. */
export function brokenBy(error: unknown, context: CallContext): Ended {
  const { aborted } = Context.current().cancellationSignal;
  const failure = aborted ? null : toProviderFailure(error, context);
  return failure === null ? brokenOff(true) : { kind: 'failed', failure, reply: null };
}
