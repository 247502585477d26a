import { join } from 'node:path';
import OpenAI from 'openai';
import type { Reply, SimulatedRequest } from '../../src/testing';
import { useGateway } from '../support/gateway';
import { useStage } from '../support/stage';

/*
 * A model may say something before it calls a tool of the operator's. What it says then is no part of its answer.
 */
const CALL: Reply = { text: 'Let me look.', calls: [{ name: 'shelf__look_up', input: { word: 'Rome' } }] };

let answer = '';
const stage = useStage({
  workers: ['a'],
  simulation: {
    models: {
      a: {
        answer: ({ exchanged = [] }: SimulatedRequest) =>
          exchanged.some(({ kind }) => kind === 'result') ? answer : CALL,
      },
    },
  },
  config: {
    tools: {
      shelf: {
        mcp: { command: [process.execPath, join(__dirname, '../support/tools-server.cjs')] },
        allow: ['look_up'],
        repeatable: ['look_up'],
      },
    },
  },
  worker: { tools: ['shelf'] },
});
const gateway = useGateway(stage);

const openAi = (): OpenAI => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret });
const ASKED = { model: 'worker/a', messages: [{ role: 'user' as const, content: 'Where is Rome?' }] };

test('a stream goes on with the answer after what was said before a call', async () => {
  answer = 'In Italy.';
  const openai = openAi();
  await stage.whileWorking(async () => {
    const streamed = await openai.chat.completions.stream(ASKED).finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toBe('Let me look.\n\nIn Italy.');
    const whole = await openai.chat.completions.create(ASKED);
    expect(whole.choices[0]?.message.content).toBe('In Italy.');
  });
});

test('a response has what was said before a call as an item of its own', async () => {
  answer = 'In Italy.';
  await stage.whileWorking(async () => {
    const { output } = await openAi()
      .responses.stream({ model: 'worker/a', input: 'Where is Rome?' })
      .finalResponse();
    const texts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
    expect(texts).toMatchObject([{ text: 'Let me look.' }, { text: 'In Italy.' }]);
    expect(output.at(-1)).toMatchObject({ type: 'message', status: 'completed' });
  });
});

test('a streamed answer in JSON is that alone', async () => {
  answer = '{"city":"Rome"}';
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const asked = {
    ...ASKED,
    response_format: { type: 'json_schema' as const, json_schema: { name: 'city', schema } },
  };
  await stage.whileWorking(async () => {
    const streamed = await openAi().chat.completions.stream(asked).finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toBe('{"city":"Rome"}');
  });
});
