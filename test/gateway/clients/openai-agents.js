// OpenAI's Agents SDK for JavaScript: `node openai-agents.js chat|responses`.
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { z } from 'zod';
import { apiKey, model, report, url } from './outcome.js';

const useResponses = process.argv[2] === 'responses';
const modelProvider = new OpenAIProvider({ apiKey, baseURL: `${url}/v1`, useResponses });
const runner = new Runner({ modelProvider, tracingDisabled: true });
const say = tool({
  name: 'say',
  description: 'Says a word.',
  parameters: z.object({ word: z.string() }),
  execute: ({ word }) => `said ${word}`,
});
const agent = new Agent({ name: 'speaker', instructions: 'Say words.', model, tools: [say] });

const outcomeOf = ({ finalOutput: text, state }) => ({ text, tokens: state.usage.totalTokens });

await report({
  whole: async (question) => outcomeOf(await runner.run(agent, question)),
  streamed: async (question) => {
    const running = await runner.run(agent, question, { stream: true });
    await running.completed;
    return outcomeOf(running);
  },
});
