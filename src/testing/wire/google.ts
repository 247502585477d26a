import type {
  Candidate,
  FinishReason,
  GenerateContentResponse,
  GenerateContentResponseUsageMetadata,
} from '@google/genai';
import { z } from 'zod';
import type { Message } from '../../plan/plan';
import type { Usage } from '../../protocol/call';
import type { ErrorFaultKind } from '../faults';
import { textContent, tokenLimit } from './wire';
import type { Decoded, Wire, WireError, WholeReply } from './wire';

const contentSchema = z.object({ role: z.enum(['user', 'model']).exactOptional(), parts: textContent });

const requestSchema = z.object({
  contents: z.array(contentSchema).min(1),
  systemInstruction: z.object({ parts: textContent }).exactOptional(),
  generationConfig: z.object({ maxOutputTokens: tokenLimit }).exactOptional(),
});

/** The SDK's class less what the SDK adds, and its enum as the plain word that travels. */
type WireCandidate = Omit<Candidate, 'finishReason'> & { finishReason: `${FinishReason}` };
type WireUsage = Pick<
  GenerateContentResponseUsageMetadata,
  | 'promptTokenCount'
  | 'cachedContentTokenCount'
  | 'candidatesTokenCount'
  | 'thoughtsTokenCount'
  | 'totalTokenCount'
>;
type WireResponse = Pick<GenerateContentResponse, 'modelVersion' | 'responseId'> & {
  usageMetadata?: WireUsage;
  candidates?: WireCandidate[];
  promptFeedback?: { blockReason: string };
};

const FINISH_REASONS = { stop: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' } as const;

const ERRORS: Record<ErrorFaultKind, readonly [code: number, status: string]> = {
  'bad-request': [400, 'INVALID_ARGUMENT'],
  unauthorized: [401, 'UNAUTHENTICATED'],
  'invalid-key': [400, 'INVALID_ARGUMENT'],
  forbidden: [403, 'PERMISSION_DENIED'],
  'not-found': [404, 'NOT_FOUND'],
  'request-timeout': [408, 'DEADLINE_EXCEEDED'],
  'too-large': [413, 'INVALID_ARGUMENT'],
  unprocessable: [422, 'INVALID_ARGUMENT'],
  'rate-limited': [429, 'RESOURCE_EXHAUSTED'],
  'quota-exceeded': [429, 'RESOURCE_EXHAUSTED'],
  'server-error': [500, 'INTERNAL'],
  'bad-gateway': [502, 'UNAVAILABLE'],
  unavailable: [503, 'UNAVAILABLE'],
  'gateway-timeout': [504, 'DEADLINE_EXCEEDED'],
  overloaded: [529, 'UNAVAILABLE'],
};

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
  const { contents, systemInstruction, generationConfig } = requestSchema.parse(body);
  const messages = contents.map(({ role, parts }): Message => ({
    role: role === 'model' ? 'assistant' : 'user',
    text: parts,
  }));
  return {
    prompt: {
      model: modelInPath ?? '',
      messages: systemInstruction
        ? [{ role: 'system', text: systemInstruction.parts }, ...messages]
        : messages,
      maxOutputTokens: generationConfig?.maxOutputTokens ?? null,
    },
    stream: false,
  };
}

function encodeReply(reply: WholeReply): WireResponse {
  const { model, sequence, finish, stated } = reply;
  const answered = {
    modelVersion: model,
    responseId: `gemini-${sequence}`,
    ...(stated && { usageMetadata: encodeUsage(stated) }),
  };
  if (finish === 'filtered') return { ...answered, promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } };
  return { ...answered, candidates: [candidate(reply, FINISH_REASONS[finish])] };
}

function encodeUsage(usage: Usage): WireUsage {
  return {
    promptTokenCount: usage.inputTokens,
    cachedContentTokenCount: usage.cachedInputTokens,
    // Gemini counts thoughts beside the candidates, not within them.
    candidatesTokenCount: usage.outputTokens - usage.reasoningTokens,
    thoughtsTokenCount: usage.reasoningTokens,
    totalTokenCount: usage.inputTokens + usage.outputTokens,
  };
}

function candidate(
  { text, refusal }: WholeReply,
  finishReason: WireCandidate['finishReason'],
): WireCandidate {
  const parts = text === '' ? {} : { parts: [{ text }] };
  return {
    index: 0,
    content: { role: 'model', ...parts },
    finishReason,
    ...(refusal === null ? {} : { finishMessage: refusal }),
  };
}

function encodeError(kind: ErrorFaultKind, message: string, retryAfterMs: number | null): WireError {
  const [code, status] = ERRORS[kind];
  const details = [...reasonOf(kind), ...retryInfo(retryAfterMs)];
  return { status: code, body: { error: { code, message, status, ...(details.length && { details }) } } };
}

/** Where code and status do not tell enough, Google adds a typed detail (google/rpc/error_details.proto). */
function reasonOf(kind: ErrorFaultKind): object[] {
  switch (kind) {
    case 'invalid-key':
      return [detail('ErrorInfo', { reason: 'API_KEY_INVALID', domain: 'googleapis.com' })];
    case 'rate-limited':
      return [quotaFailure('GenerateRequestsPerMinutePerProjectPerModel')];
    case 'quota-exceeded':
      return [quotaFailure('GenerateRequestsPerDayPerProjectPerModel')];
    default:
      return [];
  }
}

/** Both kinds of 429 are quota failures to Google; only the quota's name tells minutes from days. */
function quotaFailure(quotaId: string): object {
  return detail('QuotaFailure', { violations: [{ quotaId }] });
}

function retryInfo(retryAfterMs: number | null): object[] {
  return retryAfterMs === null ? [] : [detail('RetryInfo', { retryDelay: `${retryAfterMs / 1000}s` })];
}

function detail(type: string, fields: object): object {
  return { '@type': `type.googleapis.com/google.rpc.${type}`, ...fields };
}
