// Vercel's AI SDK, by each of its ways to a server: `node ai-sdk.js WAY text|object`.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateObject, generateText, streamObject, streamText } from 'ai';
import { z } from 'zod';
import { apiKey, model as name, question as prompt, report, url } from './outcome.js';

const baseURL = `${url}/v1`;
const ways = {
  responses: () => createOpenAI({ baseURL, apiKey })(name),
  chat: () => createOpenAI({ baseURL, apiKey }).chat(name),
  compatible: () => createOpenAICompatible({ name: 'gateway', baseURL, apiKey, includeUsage: true })(name),
  anthropic: () => createAnthropic({ baseURL, apiKey })(name),
};
const model = ways[process.argv[2]]();

const schema = z.object({ answer: z.string() });

async function objectBy(structuredOutputMode) {
  const providerOptions = { anthropic: { structuredOutputMode } };
  const { object, usage } = await generateObject({ model, prompt, schema, providerOptions });
  return { text: object.answer, tokens: usage.totalTokens };
}

const text = {
  whole: async () => {
    const { text, usage } = await generateText({ model, prompt });
    return { text, tokens: usage.totalTokens };
  },
  streamed: async () => {
    const errors = [];
    const onError = ({ error }) => errors.push(error.message ?? String(error));
    const stream = streamText({ model, prompt, onError });
    let text = '';
    for await (const part of stream.textStream) text += part;
    if (errors.length > 0) throw new Error(errors.join('\n'));
    return { text, tokens: (await stream.usage).totalTokens };
  },
};

const object = {
  byTool: () => objectBy('jsonTool'),
  byFormat: () => objectBy('outputFormat'),
  objectStreamed: async () => {
    const stream = streamObject({ model, prompt, schema });
    let answer = '';
    for await (const part of stream.partialObjectStream) answer = part.answer ?? answer;
    return { text: answer, tokens: (await stream.usage).totalTokens };
  },
};

await report({ text, object }[process.argv[3]]);
