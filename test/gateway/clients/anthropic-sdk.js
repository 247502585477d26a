// Anthropic's SDK for JavaScript.
import Anthropic from '@anthropic-ai/sdk';
import { apiKey, model, question, report, url } from './outcome.js';

const anthropic = new Anthropic({ baseURL: url, apiKey });
const body = { model, max_tokens: 1000, messages: [{ role: 'user', content: question }] };

function outcomeOf({ content, usage }) {
  return { text: content.map(({ text }) => text).join(''), tokens: usage.input_tokens + usage.output_tokens };
}

await report({
  whole: async () => outcomeOf(await anthropic.messages.create(body)),
  streamed: async () => outcomeOf(await anthropic.messages.stream(body).finalMessage()),
});
