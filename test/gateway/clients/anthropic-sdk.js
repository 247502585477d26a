// Anthropic's SDK for JavaScript: `node anthropic-sdk.js text|tools|more`.
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { z } from 'zod';
import { apiKey, model, report, url } from './outcome.js';

const anthropic = new Anthropic({ baseURL: url, apiKey });
const asked = (content) => ({ model, max_tokens: 1000, messages: [{ role: 'user', content }] });

const format = zodOutputFormat(z.object({ answer: z.string() }));
const say = betaZodTool({
  name: 'say',
  description: 'Says a word.',
  inputSchema: z.object({ word: z.string() }),
  run: ({ word }) => `said ${word}`,
});

const tokensOf = ({ input_tokens, output_tokens }) => input_tokens + output_tokens;

function outcomeOf({ content, usage }) {
  return { text: content.map(({ text }) => text).join(''), tokens: tokensOf(usage) };
}

const text = {
  whole: async (question) => outcomeOf(await anthropic.messages.create(asked(question))),
  streamed: async (question) => outcomeOf(await anthropic.messages.stream(asked(question)).finalMessage()),
};

const tools = {
  whole: async (question) =>
    outcomeOf(await anthropic.beta.messages.toolRunner({ ...asked(question), tools: [say] })),
  streamed: async (question) =>
    outcomeOf(await anthropic.beta.messages.toolRunner({ ...asked(question), tools: [say], stream: true })),
};

const more = {
  parsed: async (question) => {
    const body = { ...asked(question), output_config: { format } };
    const { parsed_output, usage } = await anthropic.messages.parse(body);
    return { text: parsed_output.answer, tokens: tokensOf(usage) };
  },
  parsedStream: async (question) => {
    const stream = anthropic.messages.stream({ ...asked(question), output_config: { format } });
    const { parsed_output, usage } = await stream.finalMessage();
    return { text: parsed_output.answer, tokens: tokensOf(usage) };
  },
};

await report({ text, tools, more }[process.argv[2]]);
