// Vercel's AI SDK as an agent: it carries out what the model asks for, round by round.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, streamText, tool } from 'ai';
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
const tools = {
  say: tool({
    description: 'Says a word.',
    inputSchema: z.object({ word: z.string() }),
    execute: ({ word }) => `said ${word}`,
  }),
};
const asked = { model, tools, stopWhen: stepCountIs(6) };

await report({
  whole: async () => {
    const { text, totalUsage } = await generateText({ ...asked, prompt: `${prompt} (whole)` });
    return { text, tokens: totalUsage.totalTokens };
  },
  streamed: async () => {
    const errors = [];
    const onError = ({ error }) => errors.push(error.message ?? String(error));
    const stream = streamText({ ...asked, prompt: `${prompt} (streamed)`, onError });
    await stream.consumeStream();
    if (errors.length > 0) throw new Error(errors.join('\n'));
    return { text: await stream.text, tokens: (await stream.totalUsage).totalTokens };
  },
});
