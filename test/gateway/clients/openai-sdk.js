// OpenAI's SDK for JavaScript: `node openai-sdk.js chat|responses|more`.
import { setTimeout as pause } from 'node:timers/promises';
import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { apiKey, model, question, report, url } from './outcome.js';

const options = { baseURL: `${url}/v1`, apiKey };
const openai = new OpenAI(options);
const asked = { model, messages: [{ role: 'user', content: question }] };
const input = { model, input: question };
const schema = z.object({ answer: z.string() });

const textOf = ({ choices, usage }) => ({ text: choices[0].message.content, tokens: usage.total_tokens });
const outputOf = ({ output_text: text, usage }) => ({ text, tokens: usage.total_tokens });

const chat = {
  whole: async () => textOf(await openai.chat.completions.create(asked)),
  streamed: async () => {
    const stream_options = { include_usage: true };
    const stream = await openai.chat.completions.create({ ...asked, stream: true, stream_options });
    let [text, tokens] = ['', 0];
    for await (const { choices, usage } of stream) {
      text += choices[0]?.delta.content ?? '';
      tokens = usage?.total_tokens ?? tokens;
    }
    return { text, tokens };
  },
};

const responses = {
  whole: async () => outputOf(await openai.responses.create(input)),
  streamed: async () => {
    const ended = await openai.responses.stream(input).finalResponse();
    if (ended.error) throw new Error(ended.error.message);
    return outputOf(ended);
  },
};

const more = {
  background: async () => {
    const { id } = await openai.responses.create({ ...input, background: true });
    for (;;) {
      const response = await openai.responses.retrieve(id);
      if (response.status !== 'queued' && response.status !== 'in_progress') return outputOf(response);
      await pause(200);
    }
  },
  // The first answer is lost on its way.
  retried: async () => {
    let isLost = false;
    const losing = async (...request) => {
      const response = await fetch(...request);
      await response.clone().text();
      if (isLost) return response;
      isLost = true;
      throw new TypeError('fetch failed');
    };
    const losingOpenai = new OpenAI({ ...options, fetch: losing });
    return textOf(await losingOpenai.chat.completions.create(asked));
  },
  parsedChat: async () => {
    const response_format = zodResponseFormat(schema, 'answer');
    const { choices, usage } = await openai.chat.completions.parse({ ...asked, response_format });
    return { text: choices[0].message.parsed.answer, tokens: usage.total_tokens };
  },
  parsedResponse: async () => {
    const text = { format: zodTextFormat(schema, 'answer') };
    const { output_parsed: parsed, usage } = await openai.responses.parse({ ...input, text });
    return { text: parsed.answer, tokens: usage.total_tokens };
  },
};

await report({ chat, responses, more }[process.argv[2]]);
