// OpenAI's Agents SDK for JavaScript, by both of its ways to a server.
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { z } from 'zod';
import { apiKey, model, report, url } from './outcome.js';

const say = tool({
  name: 'say',
  description: 'Says a word.',
  parameters: z.object({ word: z.string() }),
  execute: ({ word }) => `said ${word}`,
});
const agent = new Agent({ name: 'speaker', instructions: 'Say words.', model, tools: [say] });

const outcomeOf = ({ finalOutput: text, state }) => ({ text, tokens: state.usage.totalTokens });

function asking(surface) {
  const useResponses = surface === 'responses';
  const modelProvider = new OpenAIProvider({ apiKey, baseURL: `${url}/v1`, useResponses });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  return {
    [`${surface} whole`]: async (question) => outcomeOf(await runner.run(agent, question)),
    [`${surface} streamed`]: async (question) => {
      const running = await runner.run(agent, question, { stream: true });
      await running.completed;
      return outcomeOf(running);
    },
  };
}

await report({ ...asking('chat'), ...asking('responses') });
