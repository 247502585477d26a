// LangChain for JavaScript: `node langchain.js text|tools`.
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';
import { apiKey, model, report, url } from './outcome.js';

// It repeats what failed six times unless it is told otherwise, which takes two minutes.
const chat = new ChatOpenAI({ model, apiKey, maxRetries: 1, configuration: { baseURL: `${url}/v1` } });
const say = tool(({ word }) => `said ${word}`, {
  name: 'say',
  description: 'Says a word.',
  schema: z.object({ word: z.string() }),
});
const agent = createAgent({ model: chat, tools: [say] });

const text = {
  whole: async (question) => {
    const { content, usage_metadata: usage } = await chat.invoke(question);
    return { text: content, tokens: usage.total_tokens };
  },
  streamed: async (question) => joined(await chat.stream(question)),
};

const tools = {
  whole: async (content) => {
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content }] });
    const { content: text, usage_metadata: usage } = messages.at(-1);
    return { text, tokens: usage.total_tokens };
  },
  streamed: async (content) => {
    const stream = await agent.stream({ messages: [{ role: 'user', content }] }, { streamMode: 'messages' });
    return joined(chunksOf(stream));
  },
};

async function joined(chunks) {
  let [text, tokens] = ['', 0];
  for await (const { content, usage_metadata: usage } of chunks) {
    text += content;
    tokens += usage?.total_tokens ?? 0;
  }
  return { text, tokens };
}

async function* chunksOf(stream) {
  for await (const [chunk] of stream) yield chunk;
}

await report({ text, tools }[process.argv[2]]);
