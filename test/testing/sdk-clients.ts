import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { Protocol } from '../../src/testing';

/** A reply as a caller of the vendor's SDK can read it. */
interface SdkReply {
  readonly id: string | undefined;
  readonly text: string | null | undefined;
  readonly finish: unknown;
  readonly refusal: unknown;
  readonly usage: unknown;
}

/** Sends one prompt through the vendor's own SDK, without its retries. */
export type Ask = (url: string, signal?: AbortSignal) => Promise<SdkReply>;

const KEY = 'key-of-a-test';

/** Google's SDK brings a dispatcher that it looks up on a global object which is not jest's. */
function plainFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const plain = { ...init };
  delete plain.dispatcher;
  return fetch(input, plain);
}

export const SDK_CLIENTS: Readonly<Record<Protocol, Ask>> = {
  'openai-chat': async (url, signal) => {
    const client = new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0 });
    const reply = await client.chat.completions.create(
      {
        model: 'model',
        max_completion_tokens: 100,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: [{ type: 'text', text: 'Why?' }] },
        ],
      },
      signal && { signal },
    );
    const choice = reply.choices[0];
    return {
      id: reply.id,
      text: choice?.message.content,
      finish: choice?.finish_reason,
      refusal: choice?.message.refusal,
      usage: reply.usage,
    };
  },
  'openai-responses': async (url, signal) => {
    const client = new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0 });
    const reply = await client.responses.create(
      { model: 'model', max_output_tokens: 100, instructions: 'Be brief.', input: 'Why?' },
      signal && { signal },
    );
    const part = reply.output.flatMap((item) => (item.type === 'message' ? item.content : []))[0];
    return {
      id: reply.id,
      text: reply.output_text,
      finish: reply.incomplete_details?.reason ?? reply.status,
      refusal: part?.type === 'refusal' ? part.refusal : null,
      usage: reply.usage,
    };
  },
  anthropic: async (url, signal) => {
    const client = new Anthropic({ apiKey: KEY, baseURL: url, maxRetries: 0 });
    const reply = await client.messages.create(
      {
        model: 'model',
        max_tokens: 100,
        system: 'Be brief.',
        messages: [{ role: 'user', content: 'Why?' }],
      },
      signal && { signal },
    );
    return {
      id: reply.id,
      text: reply.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      finish: reply.stop_reason,
      refusal: reply.stop_details?.explanation ?? null,
      usage: reply.usage,
    };
  },
  google: async (url, signal) => {
    const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: url, fetch: plainFetch } });
    const reply = await client.models.generateContent({
      model: 'model',
      contents: 'Why?',
      config: {
        systemInstruction: 'Be brief.',
        maxOutputTokens: 100,
        abortSignal: signal,
      },
    });
    const candidate = reply.candidates?.[0];
    return {
      id: reply.responseId,
      text: reply.text,
      finish: candidate?.finishReason ?? reply.promptFeedback?.blockReason,
      refusal: candidate?.finishMessage ?? null,
      usage: reply.usageMetadata,
    };
  },
};
