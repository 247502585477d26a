import { z } from 'zod';
import type { Message } from '../../plan/plan';
import type { Usage } from '../../protocol/solve';
import { type ErrorFaultKind, ERRORS } from '../faults';
import { type Decoded, textContent, tokenLimit, type Wire, type WireError, type WholeReply } from './wire';

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
  decode,
  encodeReply,
  encodeError,
};

/** The model is named by the path alone, and streaming by another method in the path. */
function decode(body: unknown, modelInPath: string | null): Decoded {
  const { contents, systemInstruction: system, generationConfig } = requestSchema.parse(body);
  const turns = contents.map(({ role, parts }): Message => ({
    role: role === 'model' ? 'assistant' : 'user',
    text: parts,
  }));
  return {
    model: modelInPath ?? '',
    messages: system ? [{ role: 'system', text: system.parts }, ...turns] : turns,
    maxOutputTokens: generationConfig?.maxOutputTokens ?? null,
    stream: false,
  };
}

function encodeReply(reply: WholeReply): object {
  const { model, sequence, text, finish, refusal, stated } = reply;
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
  return { ...answered, candidates: [candidate] };
}

function encodeUsage(usage: Usage): object {
  return {
    promptTokenCount: usage.inputTokens,
    cachedContentTokenCount: usage.cachedInputTokens,
    // Gemini counts thoughts beside the candidates, not within them.
    candidatesTokenCount: usage.outputTokens - usage.reasoningTokens,
    thoughtsTokenCount: usage.reasoningTokens,
    totalTokenCount: usage.inputTokens + usage.outputTokens,
  };
}

function detail(type: string, fields: object): object {
  return { '@type': `type.googleapis.com/google.rpc.${type}`, ...fields };
}

/** Where code and status are ambiguous, Google adds a typed detail (google/rpc/error_details.proto). */
const DETAILS: Partial<Record<ErrorFaultKind, object>> = {
  'invalid-key': detail('ErrorInfo', { reason: 'API_KEY_INVALID', domain: 'googleapis.com' }),
  // Only the quota's name tells minutes from days.
  'rate-limited': quotaFailure('GenerateRequestsPerMinutePerProjectPerModel'),
  'quota-exceeded': quotaFailure('GenerateRequestsPerDayPerProjectPerModel'),
};

function quotaFailure(quotaId: string): object {
  return detail('QuotaFailure', { violations: [{ quotaId }] });
}

function encodeError(kind: ErrorFaultKind, message: string, retryAfterMs: number | null): WireError {
  const [general, , , , status] = ERRORS[kind];
  const code = kind === 'invalid-key' ? 400 : general;
  const retryInfo = retryAfterMs !== null && detail('RetryInfo', { retryDelay: `${retryAfterMs / 1000}s` });
  const details = [DETAILS[kind], retryInfo].filter((each) => typeof each === 'object');
  const error = { code, message, status, details: details.length > 0 ? details : undefined };
  return { status: code, body: { error } };
}
