// Anthropic's SDK for JavaScript: `node anthropic-sdk.js messages|more`.
import Anthropic from '@anthropic-ai/sdk';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { z } from 'zod';
import { apiKey, model, question, report, url } from './outcome.js';

const anthropic = new Anthropic({ baseURL: url, apiKey });
const body = { model, max_tokens: 1000, messages: [{ role: 'user', content: question }] };

const format = zodOutputFormat(z.object({ answer: z.string() }));

const tokensOf = ({ input_tokens, output_tokens }) => input_tokens + output_tokens;

function outcomeOf({ content, usage }) {
  return { text: content.map(({ text }) => text).join(''), tokens: tokensOf(usage) };
}

const messages = {
  whole: async () => outcomeOf(await anthropic.messages.create(body)),
  streamed: async () => outcomeOf(await anthropic.messages.stream(body).finalMessage()),
};

const more = {
  parsed: async () => {
    const { parsed_output, usage } = await anthropic.messages.parse({ ...body, output_config: { format } });
    return { text: parsed_output.answer, tokens: tokensOf(usage) };
  },
  parsedStream: async () => {
    const stream = anthropic.messages.stream({ ...body, output_config: { format } });
    const { parsed_output, usage } = await stream.finalMessage();
    return { text: parsed_output.answer, tokens: tokensOf(usage) };
  },
};

await report({ messages, more }[process.argv[2]]);
