// Vercel's AI SDK, by each of its ways to a server: `node ai-sdk.js WAY`.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import { apiKey, model as name, question as prompt, report, url } from './outcome.js';

const baseURL = `${url}/v1`;
const ways = {
  responses: () => createOpenAI({ baseURL, apiKey })(name),
  chat: () => createOpenAI({ baseURL, apiKey }).chat(name),
  compatible: () => createOpenAICompatible({ name: 'gateway', baseURL, apiKey, includeUsage: true })(name),
  anthropic: () => createAnthropic({ baseURL, apiKey })(name),
};
const model = ways[process.argv[2]]();

await report({
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
});
