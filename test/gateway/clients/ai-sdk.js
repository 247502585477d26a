// Vercel's AI SDK, by each of its ways to a server: `node ai-sdk.js WAY QUESTION`.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';

const [way, prompt] = process.argv.slice(2);
const { GATEWAY_URL: url, GATEWAY_KEY: apiKey, GATEWAY_MODEL: name } = process.env;
const baseURL = `${url}/v1`;

const ways = {
  responses: () => createOpenAI({ baseURL, apiKey })(name),
  chat: () => createOpenAI({ baseURL, apiKey }).chat(name),
  compatible: () => createOpenAICompatible({ name: 'gateway', baseURL, apiKey, includeUsage: true })(name),
  anthropic: () => createAnthropic({ baseURL, apiKey })(name),
};
const model = ways[way]();

const { text, usage } = await generateText({ model, prompt });
let streamed = '';
const errors = [];
const stream = streamText({ model, prompt, onError: ({ error }) => errors.push(String(error)) });
for await (const part of stream.textStream) streamed += part;
if (errors.length > 0) throw new Error(errors.join('\n'));
console.log(JSON.stringify({ text, streamed, tokens: usage.totalTokens, finish: await stream.finishReason }));
