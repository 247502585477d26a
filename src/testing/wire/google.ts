import { z } from 'zod';
import type { Message } from '../../plan/plan';
import type { Usage } from '../../protocol/solve';
import { type ErrorFaultKind, ERRORS } from '../faults';
import type { StreamEvent } from '../stream';
import { textContent, tokenLimit, type WholeReply, type Wire } from './wire';

const contentSchema = z.object({ role: z.enum(['user', 'model']).exactOptional(), parts: textContent });

const requestSchema = z.object({
  contents: z.array(contentSchema).min(1),
  systemInstruction: z.object({ parts: textContent }).exactOptional(),
  generationConfig: z.object({ maxOutputTokens: tokenLimit }).exactOptional(),
});

const FINISH_REASONS = { stop: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' } as const;

/** Gemini generateContent (ai.google.dev/api/generate-content), with errors as in google.rpc.Status. */
export const google: Wire = {
  protocol: 'google',
  requestIdHeader: 'x-goog-request-id',
  decode: (body, modelInPath) => {
    const { contents, systemInstruction: system, generationConfig } = requestSchema.parse(body);
    const turns = contents.map(({ role, parts }): Message => ({
      role: role === 'model' ? 'assistant' : 'user',
      text: parts,
    }));
    return {
      model: modelInPath ?? '',
      messages: system ? [{ role: 'system', text: system.parts }, ...turns] : turns,
      maxOutputTokens: generationConfig?.maxOutputTokens ?? null,
    };
  },
  encodeReply: (reply) => encodeResponse(reply),
  encodeStream: (reply, pieces) => {
    const whole = encodeResponse(reply);
    if (!('candidates' in whole) || pieces.length === 0) return [{ data: whole }];
    const [candidate] = whole.candidates;
    // Gemini states usage in each event; here, always the final counts.
    return pieces.map((text, index): StreamEvent => {
      const content = { ...candidate.content, parts: [{ text }] };
      if (index < pieces.length - 1) return { data: { ...whole, candidates: [{ index: 0, content }] } };
      return { data: { ...whole, candidates: [{ ...candidate, content }] } };
    });
  },
  encodeError: (kind, message, retryAfterMs) => {
    const [general, , , , status] = ERRORS[kind];
    const code = kind === 'invalid-key' ? 400 : general;
    const retryInfo = retryAfterMs !== null && detail('RetryInfo', { retryDelay: `${retryAfterMs / 1000}s` });
    const details = [DETAILS[kind], retryInfo].filter((each) => typeof each === 'object');
    const error = { code, message, status, details: details.length > 0 ? details : undefined };
    return { status: code, body: { error } };
  },
};

function encodeResponse({ model, sequence, text, finish, refusal, stated }: WholeReply) {
  const answered = {
    modelVersion: model,
    responseId: `gemini-${sequence}`,
    usageMetadata: stated ? encodeUsage(stated) : undefined,
  };
  if (finish === 'filtered') return { ...answered, promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } };
  const candidate = {
    index: 0,
    content: { role: 'model', parts: text === '' ? undefined : [{ text }] },
    finishReason: FINISH_REASONS[finish],
    finishMessage: refusal ?? undefined,
  };
  return { ...answered, candidates: [candidate] as const };
}

function encodeUsage(usage: Usage): object {
  return {
    promptTokenCount: usage.inputTokens,
    cachedContentTokenCount: usage.cachedInputTokens,
    // Gemini counts reasoning tokens besides those of the candidates, not among them.
    candidatesTokenCount: usage.outputTokens - usage.reasoningTokens,
    thoughtsTokenCount: usage.reasoningTokens,
    totalTokenCount: usage.inputTokens + usage.outputTokens,
  };
}

function detail(type: string, fields: object): object {
  return { '@type': `type.googleapis.com/google.rpc.${type}`, ...fields };
}

function quotaFailure(quotaId: string): object {
  return detail('QuotaFailure', { violations: [{ quotaId }] });
}

/** Typed details that Google adds if code and status are ambiguous (google/rpc/error_details.proto). */
const DETAILS: Partial<Record<ErrorFaultKind, object>> = {
  'invalid-key': detail('ErrorInfo', { reason: 'API_KEY_INVALID', domain: 'googleapis.com' }),
  // Only the name of the quota distinguishes a limit per minute from one per day.
  'rate-limited': quotaFailure('GenerateRequestsPerMinutePerProjectPerModel'),
  'quota-exceeded': quotaFailure('GenerateRequestsPerDayPerProjectPerModel'),
};
