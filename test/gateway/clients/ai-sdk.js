// Vercel's AI SDK, by each of its ways to a server: `node ai-sdk.js WAY text|tools|object`.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateObject, generateText, stepCountIs, streamObject, streamText, tool } from 'ai';
import { z } from 'zod';
import { apiKey, model as name, report, url } from './outcome.js';

const baseURL = `${url}/v1`;
const ways = {
  responses: () => createOpenAI({ baseURL, apiKey })(name),
  chat: () => createOpenAI({ baseURL, apiKey }).chat(name),
  compatible: () => createOpenAICompatible({ name: 'gateway', baseURL, apiKey, includeUsage: true })(name),
  anthropic: () => createAnthropic({ baseURL, apiKey })(name),
};
const [way, what] = process.argv.slice(2);
const model = ways[way]();

const schema = z.object({ answer: z.string() });
const say = tool({
  description: 'Says a word.',
  inputSchema: z.object({ word: z.string() }),
  execute: ({ word }) => `said ${word}`,
});

const asking = (settings) => ({
  whole: async (prompt) => {
    const { text, totalUsage } = await generateText({ model, prompt, ...settings });
    return { text, tokens: totalUsage.totalTokens };
  },
  streamed: async (prompt) => {
    const errors = [];
    const onError = ({ error }) => errors.push(error.message ?? String(error));
    const stream = streamText({ model, prompt, onError, ...settings });
    await stream.consumeStream();
    if (errors.length > 0) throw new Error(errors.join('\n'));
    return { text: await stream.text, tokens: (await stream.totalUsage).totalTokens };
  },
});

const objectBy = (structuredOutputMode) => async (prompt) => {
  const providerOptions = { anthropic: { structuredOutputMode } };
  const { object, usage } = await generateObject({ model, prompt, schema, providerOptions });
  return { text: object.answer, tokens: usage.totalTokens };
};

const object = {
  byTool: objectBy('jsonTool'),
  byFormat: objectBy('outputFormat'),
  objectStreamed: async (prompt) => {
    const stream = streamObject({ model, prompt, schema });
    let answer = '';
    for await (const part of stream.partialObjectStream) answer = part.answer ?? answer;
    return { text: answer, tokens: (await stream.usage).totalTokens };
  },
};

await report({ text: asking(), tools: asking({ tools: { say }, stopWhen: stepCountIs(6) }), object }[what]);
