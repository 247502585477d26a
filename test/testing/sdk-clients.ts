import Anthropic from '@anthropic-ai/sdk';
import { type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { Protocol } from '../../src/testing';

/** A reply as the vendor's SDK gives it to its caller. */
interface SdkReply {
  readonly id: string | undefined;
  readonly text: string | null | undefined;
  readonly finish: unknown;
  readonly refusal: unknown;
  readonly usage: unknown;
}

/** Sends one prompt through the vendor's own SDK, without retries; the SDK also assembles a stream. */
export type Ask = (url: string, signal?: AbortSignal, streams?: boolean) => Promise<SdkReply>;

const KEY = 'key-of-a-test';

export function openAiAt(url: string): OpenAI {
  return new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0 });
}

/** Fetches without the dispatcher that Google's SDK sets: it comes from a global object outside jest's. */
function plainFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const plain = { ...init };
  delete plain.dispatcher;
  return fetch(input, plain);
}

export const SDK_CLIENTS: Readonly<Record<Protocol, Ask>> = {
  'openai-chat': async (url, signal, streams) => {
    const { completions } = openAiAt(url).chat;
    const asked = {
      model: 'model',
      max_completion_tokens: 100,
      messages: [
        { role: 'system' as const, content: 'Be brief.' },
        { role: 'user' as const, content: [{ type: 'text' as const, text: 'Why?' }] },
      ],
    };
    const usage = { stream_options: { include_usage: true } };
    const reply =
      streams === true
        ? await completions.stream({ ...asked, ...usage }, signal && { signal }).finalChatCompletion()
        : await completions.create(asked, signal && { signal });
    const choice = reply.choices[0];
    return {
      id: reply.id,
      // The SDK leaves the content empty for a stream without text.
      text: choice?.message.content ?? '',
      finish: choice?.finish_reason,
      refusal: choice?.message.refusal,
      usage: reply.usage,
    };
  },
  'openai-responses': async (url, signal, streams) => {
    const { responses } = openAiAt(url);
    const asked = { model: 'model', max_output_tokens: 100, instructions: 'Be brief.', input: 'Why?' };
    const reply =
      streams === true
        ? await responses.stream(asked, signal && { signal }).finalResponse()
        : await responses.create(asked, signal && { signal });
    const part = reply.output.flatMap((item) => (item.type === 'message' ? item.content : []))[0];
    return {
      id: reply.id,
      text: reply.output_text,
      finish: reply.incomplete_details?.reason ?? reply.status,
      refusal: part?.type === 'refusal' ? part.refusal : null,
      usage: reply.usage,
    };
  },
  anthropic: async (url, signal, streams) => {
    const { messages } = new Anthropic({ apiKey: KEY, baseURL: url, maxRetries: 0 });
    const asked = {
      model: 'model',
      max_tokens: 100,
      system: 'Be brief.',
      messages: [{ role: 'user' as const, content: 'Why?' }],
    };
    const reply =
      streams === true
        ? await messages.stream(asked, signal && { signal }).finalMessage()
        : await messages.create(asked, signal && { signal });
    return {
      id: reply.id,
      text: reply.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      finish: reply.stop_reason,
      refusal: reply.stop_details?.explanation ?? null,
      usage: reply.usage,
    };
  },
  google: async (url, signal, streams) => {
    const { models } = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: url, fetch: plainFetch } });
    const config = { systemInstruction: 'Be brief.', maxOutputTokens: 100, abortSignal: signal };
    const asked = { model: 'model', contents: 'Why?', config };
    const parts: GenerateContentResponse[] = [];
    if (streams === true)
      for await (const part of await models.generateContentStream(asked)) parts.push(part);
    else parts.push(await models.generateContent(asked));
    return readParts(parts);
  },
};

/** Assembles a stream, which Google's SDK does not: the last part has everything except the text. */
function readParts(parts: readonly GenerateContentResponse[]): SdkReply {
  const { responseId: id, usageMetadata: usage, candidates, promptFeedback } = parts.at(-1) ?? {};
  const [candidate] = candidates ?? [];
  const text = parts.map((part) => part.candidates?.[0]?.content?.parts?.[0]?.text ?? '').join('');
  const finish = candidate?.finishReason ?? promptFeedback?.blockReason;
  return { id, text, finish, refusal: candidate?.finishMessage ?? null, usage };
}
