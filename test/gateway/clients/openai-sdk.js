// OpenAI's SDK for JavaScript: `node openai-sdk.js chat|responses`.
import OpenAI from 'openai';
import { apiKey, model, question, report, url } from './outcome.js';

const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey });
const chat = { model, messages: [{ role: 'user', content: question }] };
const response = { model, input: question };

const ways = {
  chat: [
    async () => {
      const { choices, usage } = await openai.chat.completions.create(chat);
      return { text: choices[0].message.content, tokens: usage.total_tokens };
    },
    async () => {
      const stream_options = { include_usage: true };
      const stream = await openai.chat.completions.create({ ...chat, stream: true, stream_options });
      let [text, tokens] = ['', 0];
      for await (const { choices, usage } of stream) {
        text += choices[0]?.delta.content ?? '';
        tokens = usage?.total_tokens ?? tokens;
      }
      return { text, tokens };
    },
  ],
  responses: [
    async () => {
      const { output_text: text, usage } = await openai.responses.create(response);
      return { text, tokens: usage.total_tokens };
    },
    async () => {
      const ended = await openai.responses.stream(response).finalResponse();
      if (ended.error) throw new Error(ended.error.message);
      return { text: ended.output_text, tokens: ended.usage.total_tokens };
    },
  ],
};
await report(...ways[process.argv[2]]);
