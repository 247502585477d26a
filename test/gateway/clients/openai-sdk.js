// OpenAI's SDK for JavaScript: `node openai-sdk.js text|tools|more`.
import { setTimeout as pause } from 'node:timers/promises';
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat, zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { apiKey, model, report, url } from './outcome.js';

const options = { baseURL: `${url}/v1`, apiKey };
const openai = new OpenAI(options);
const asked = (content) => ({ model, messages: [{ role: 'user', content }] });
const stream_options = { include_usage: true };

const schema = z.object({ answer: z.string() });
const say = {
  name: 'say',
  description: 'Says a word.',
  parameters: z.object({ word: z.string() }),
  function: ({ word }) => `said ${word}`,
};

const textOf = ({ choices, usage }) => ({ text: choices[0].message.content, tokens: usage.total_tokens });
const outputOf = ({ output_text: text, usage }) => ({ text, tokens: usage.total_tokens });

const respondWhole = (body) => openai.responses.create(body);
async function respondStreamed(body) {
  const ended = await openai.responses.stream(body).finalResponse();
  if (ended.error) throw new Error(ended.error.message);
  return ended;
}

const text = {
  'chat whole': async (question) => textOf(await openai.chat.completions.create(asked(question))),
  'chat streamed': async (question) => {
    const body = { ...asked(question), stream: true, stream_options };
    let [text, tokens] = ['', 0];
    for await (const { choices, usage } of await openai.chat.completions.create(body)) {
      text += choices[0]?.delta.content ?? '';
      tokens = usage?.total_tokens ?? tokens;
    }
    return { text, tokens };
  },
  'responses whole': async (input) => outputOf(await respondWhole({ model, input })),
  'responses streamed': async (input) => outputOf(await respondStreamed({ model, input })),
};

async function chatWithTools(question, more) {
  const tools = [zodFunction(say)];
  const runner = openai.chat.completions.runTools({ ...asked(question), tools, ...more });
  return { text: await runner.finalContent(), tokens: (await runner.totalUsage()).total_tokens };
}

async function respondWithTools(question, respond) {
  const input = [{ role: 'user', content: question }];
  const tools = [zodResponsesFunction(say)];
  for (;;) {
    const response = await respond({ model, input, tools });
    const calls = response.output.filter(({ type }) => type === 'function_call');
    if (calls.length === 0) return outputOf(response);
    const results = calls.map(({ call_id, arguments: json }) => {
      return { type: 'function_call_output', call_id, output: say.function(JSON.parse(json)) };
    });
    input.push(...response.output, ...results);
  }
}

const tools = {
  'chat whole': (question) => chatWithTools(question),
  'chat streamed': (question) => chatWithTools(question, { stream: true, stream_options }),
  'responses whole': (question) => respondWithTools(question, respondWhole),
  'responses streamed': (question) => respondWithTools(question, respondStreamed),
};

const more = {
  background: async (input) => {
    const { id } = await openai.responses.create({ model, input, background: true });
    for (;;) {
      const response = await openai.responses.retrieve(id);
      if (response.status !== 'queued' && response.status !== 'in_progress') return outputOf(response);
      await pause(200);
    }
  },
  // The first answer is lost on its way.
  retried: async (question) => {
    let isLost = false;
    const losing = async (...request) => {
      const response = await fetch(...request);
      await response.clone().text();
      if (isLost) return response;
      isLost = true;
      throw new TypeError('fetch failed');
    };
    const losingOpenai = new OpenAI({ ...options, fetch: losing });
    return textOf(await losingOpenai.chat.completions.create(asked(question)));
  },
  parsedChat: async (question) => {
    const body = { ...asked(question), response_format: zodResponseFormat(schema, 'answer') };
    const { choices, usage } = await openai.chat.completions.parse(body);
    return { text: choices[0].message.parsed.answer, tokens: usage.total_tokens };
  },
  parsedResponse: async (input) => {
    const text = { format: zodTextFormat(schema, 'answer') };
    const { output_parsed: parsed, usage } = await openai.responses.parse({ model, input, text });
    return { text: parsed.answer, tokens: usage.total_tokens };
  },
};

await report({ text, tools, more }[process.argv[2]]);
