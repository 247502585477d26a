import { FAILURES } from '../protocol/failures';
import type { ProviderFailureType } from './models/consequence';
import type { Diagnosis } from './models/diagnosis';
import { type CallContext, describeFailure } from './models/failure';
import type { ModelReply, Progress } from './models/model';
import { repliedWith, type SentRequest } from './send-request';

/** An answer in the background that no longer changes. */
export type Ended = Exclude<Progress, { status: 'running' }>;

/** What the vendor's codes would have been as a status, had the connection been held. */
const FAILED: Readonly<Record<string, ProviderFailureType>> = {
  rate_limit_exceeded: FAILURES.rateLimited,
  server_error: FAILURES.unavailable,
  invalid_prompt: FAILURES.badRequest,
};

const KEPT_FOR_A_TIME = 'Answers are kept there for a limited time; the call may have been billed.';

/** What an answer in the background comes to, once it is over. */
export function settleBackground(ended: Ended, context: CallContext): SentRequest {
  switch (ended.status) {
    case 'answered':
      return repliedWith(ended.reply, context);
    case 'failed':
      return failedWith(ended.reply, diagnoseFailed(ended), context);
    case 'cancelled': {
      const happened = 'was told by somebody else to give up its answer';
      return failedWith(ended.reply, { type: FAILURES.interrupted, happened, reason: '' }, context);
    }
    case 'lost': {
      const happened = 'no longer knows the answer that it had begun';
      const lost = { type: FAILURES.interrupted, happened, reason: '', remedy: KEPT_FOR_A_TIME };
      return failedWith(null, lost, context);
    }
  }
}

/** A failure beside what there was of a reply: usage that the vendor tells is billed, whatever the failure. */
export function failedWith(
  reply: ModelReply | null,
  diagnosis: Diagnosis,
  context: CallContext,
): Extract<SentRequest, { kind: 'failed' }> {
  const failure = describeFailure(diagnosis, context);
  const billed = reply?.usage ? 'yes' : failure.billed;
  return { kind: 'failed', failure: { ...failure, billed }, reply, partial: null };
}

/** A failure that was billed after all is none that Temporal may repeat. */
function diagnoseFailed({ reply, code, reason }: Extract<Ended, { status: 'failed' }>): Diagnosis {
  const type = reply.usage === null ? FAILED[code] : undefined;
  return { type: type ?? FAILURES.badResponse, happened: 'failed while it wrote its answer', reason };
}
