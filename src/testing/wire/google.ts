import { z } from 'zod';
import type { Message } from '../../plan/plan';
import type { Usage } from '../../protocol/solve';
import { type ErrorFaultKind, ERRORS } from '../faults';
import type { StreamEvent } from '../stream';
import {
  type Exchanged,
  idsOf,
  isSigned,
  refuseRequest,
  sign,
  textContent,
  tokenLimit,
  type WholeReply,
  type Prompt,
  type Wire,
} from './wire';

const textPart = z.strictObject({ text: z.string(), thoughtSignature: z.string().exactOptional() });
const callPart = z.strictObject({
  functionCall: z.object({
    id: z.string().exactOptional(),
    name: z.string(),
    args: z.record(z.string(), z.unknown()),
  }),
  thoughtSignature: z.string().exactOptional(),
});
const resultPart = z.strictObject({
  functionResponse: z.object({
    id: z.string().exactOptional(),
    name: z.string(),
    response: z.record(z.string(), z.string()),
  }),
});
const contentSchema = z.object({
  role: z.enum(['user', 'model']).exactOptional(),
  parts: z.array(z.union([textPart, callPart, resultPart])),
});
type SentContent = z.output<typeof contentSchema>;

const requestSchema = z.object({
  contents: z.array(contentSchema).min(1),
  tools: z.array(z.object({ functionDeclarations: z.array(z.object({ name: z.string() })) })).exactOptional(),
  toolConfig: z.object({ functionCallingConfig: z.object({ mode: z.string() }) }).exactOptional(),
  systemInstruction: z.object({ parts: textContent }).exactOptional(),
  generationConfig: z
    .object({ maxOutputTokens: tokenLimit, responseMimeType: z.string().exactOptional() })
    .exactOptional(),
});

type Asked = z.output<typeof requestSchema>;

function offeredBy(tools: Asked['tools'], config: Asked['toolConfig']): Pick<Prompt, 'tools' | 'mustCall'> {
  const { mode } = config?.functionCallingConfig ?? {};
  const names = tools?.flatMap(({ functionDeclarations: each }) => each.map(({ name }) => name));
  return { tools: mode === 'NONE' ? undefined : names, mustCall: mode === 'ANY' || undefined };
}

const FINISH_REASONS = { stop: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' } as const;

/** Gemini generateContent (ai.google.dev/api/generate-content), with errors as in google.rpc.Status. */
export const google: Wire = {
  protocol: 'google',
  requestIdHeader: 'x-goog-request-id',
  decode: (body, modelInPath) => {
    const {
      contents,
      systemInstruction: system,
      generationConfig,
      tools,
      toolConfig,
    } = requestSchema.parse(body);
    const offered = offeredBy(tools, toolConfig);
    if (offered.tools) refuseJson(generationConfig);
    const turns = contents.map(({ role, parts }): Message => ({
      role: role === 'model' ? 'assistant' : 'user',
      text: parts.map((part) => ('text' in part ? part.text : '')).join(''),
    }));
    return {
      model: modelInPath ?? '',
      messages: system ? [{ role: 'system', text: system.parts }, ...turns] : turns,
      maxOutputTokens: generationConfig?.maxOutputTokens ?? null,
      ...offered,
      exchanged: contents.flatMap(exchangedIn),
    };
  },
  encodeReply: (reply) => encodeResponse(reply),
  encodeStream: (reply, pieces) => {
    const whole = encodeResponse(reply);
    const [candidate] = 'candidates' in whole ? whole.candidates : [];
    const called = callParts(reply);
    const sent = [...pieces.map((text): object[] => [{ text }]), ...(called.length > 0 ? [called] : [])];
    if (candidate === undefined || sent.length === 0) return [{ data: whole }];
    // Gemini states usage in each event; here, always the final counts. A call comes whole.
    return sent.map((parts, index): StreamEvent => {
      const content = { ...candidate.content, parts };
      if (index < sent.length - 1) return { data: { ...whole, candidates: [{ index: 0, content }] } };
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

/** Gemini takes no schema beside functions that may be called, but in mode NONE: github.com/google/adk-python/issues/5735. */
function refuseJson({ responseMimeType }: z.output<typeof requestSchema>['generationConfig'] = {}): void {
  if (responseMimeType !== 'application/json') return;
  refuseRequest("Function calling with a response mime type: 'application/json' is unsupported");
}

/** @throws z.ZodError as Gemini 3 refuses a turn of calls whose signature is missing or was changed */
function exchangedIn({ role, parts }: SentContent): Exchanged[] {
  let isFirst = true;
  return parts.flatMap((part): Exchanged[] => {
    if ('text' in part) return [];
    if ('functionResponse' in part) {
      const { id = '', name, response } = part.functionResponse;
      return [{ kind: 'result', id, name, text: Object.values(response).join('') }];
    }
    const { id = '', name, args } = part.functionCall;
    const { thoughtSignature: signature } = part;
    if (isFirst && role === 'model' && !isSigned(name, signature ?? '')) {
      refuseRequest(`Function call ${name} is missing a thought_signature, or it is corrupted.`);
    }
    isFirst = false;
    return [{ kind: 'call', id, name, text: JSON.stringify(args) }];
  });
}

/** Gemini signs the first of a turn's calls, however little it thought. */
function callParts(reply: WholeReply): object[] {
  const ids = idsOf('fc', reply);
  return reply.calls.map(({ name, input }, index) => ({
    functionCall: { id: ids[index] ?? undefined, name, args: input },
    ...(index === 0 && { thoughtSignature: sign(name, reply.sequence) }),
  }));
}

function encodeResponse(reply: WholeReply) {
  const { model, sequence, text, finish, refusal, stated } = reply;
  const parts = [...(text === '' ? [] : [{ text }]), ...callParts(reply)];
  const answered = {
    modelVersion: model,
    responseId: `gemini-${sequence}`,
    usageMetadata: stated ? encodeUsage(stated) : undefined,
  };
  if (finish === 'filtered') return { ...answered, promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } };
  const candidate = {
    index: 0,
    content: { role: 'model', parts: parts.length === 0 ? undefined : parts },
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
