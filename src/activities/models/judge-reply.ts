import { FAILURES } from '../../protocol/failures';
import { type CallContext, describeFailure, type ProviderFailure } from './failure';
import type { ModelReply } from './model';

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
