import type { Usage } from '../protocol/call';
import type { Reply, SimulatedRequest } from './behaviour';
import type { WholeReply } from './wire/wire';

/** Fills in what a reply leaves open. */
export function wholeReply(request: SimulatedRequest, reply: Reply): WholeReply {
  const usage = usageOf(request, reply);
  return {
    model: request.model,
    sequence: request.sequence,
    text: reply.text,
    finish: reply.finish ?? 'stop',
    refusal: reply.finish === 'refusal' ? (reply.refusal ?? 'I cannot help with that.') : null,
    usage,
    stated: usage,
  };
}

function usageOf(request: SimulatedRequest, { text, usage = {} }: Reply): Usage {
  const reasoningTokens = usage.reasoningTokens ?? 0;
  return {
    inputTokens: usage.inputTokens ?? countTokens(request.text),
    outputTokens: usage.outputTokens ?? countTokens(text) + reasoningTokens,
    cachedInputTokens: usage.cachedInputTokens ?? 0,
    reasoningTokens,
  };
}

/** Four characters a token: no tokenizer's count, but the same count each time. */
function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
