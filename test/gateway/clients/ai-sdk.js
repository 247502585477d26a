// Vercel's AI SDK, by each of its ways to a server: `node ai-sdk.js text|tools|object`.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateObject, generateText, stepCountIs, streamObject, streamText, tool } from 'ai';
import { z } from 'zod';
import { apiKey, model as name, report, url } from './outcome.js';

const server = { baseURL: `${url}/v1`, apiKey };
const openai = createOpenAI(server);
const anthropic = createAnthropic(server)(name);
const models = {
  responses: openai(name),
  chat: openai.chat(name),
  compatible: createOpenAICompatible({ name: 'gateway', ...server, includeUsage: true })(name),
  anthropic,
};

const schema = z.object({ answer: z.string() });
const say = tool({
  description: 'Says a word.',
  inputSchema: z.object({ word: z.string() }),
  execute: ({ word }) => `said ${word}`,
});

const asking = (way, settings) => ({
  [`${way} whole`]: async (prompt) => {
    const { text, totalUsage } = await generateText({ ...settings, prompt });
    return { text, tokens: totalUsage.totalTokens };
  },
  [`${way} streamed`]: async (prompt) => {
    const errors = [];
    const onError = ({ error }) => errors.push(error.message ?? String(error));
    const stream = streamText({ ...settings, prompt, onError });
    await stream.consumeStream();
    if (errors.length > 0) throw new Error(errors.join('\n'));
    return { text: await stream.text, tokens: (await stream.totalUsage).totalTokens };
  },
});

function askingAll(settings) {
  const ways = Object.entries(models).map(([way, model]) => asking(way, { model, ...settings }));
  return Object.assign({}, ...ways);
}

const objectBy = (structuredOutputMode) => async (prompt) => {
  const providerOptions = { anthropic: { structuredOutputMode } };
  const { object, usage } = await generateObject({ model: anthropic, prompt, schema, providerOptions });
  return { text: object.answer, tokens: usage.totalTokens };
};

const object = {
  byTool: objectBy('jsonTool'),
  byFormat: objectBy('outputFormat'),
  objectStreamed: async (prompt) => {
    const stream = streamObject({ model: anthropic, prompt, schema });
    let answer = '';
    for await (const part of stream.partialObjectStream) answer = part.answer ?? answer;
    return { text: answer, tokens: (await stream.usage).totalTokens };
  },
};

const tools = askingAll({ tools: { say }, stopWhen: stepCountIs(6) });
await report({ text: askingAll(), tools, object }[process.argv[2]]);
