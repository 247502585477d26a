import OpenAI from 'openai';
import { questionSet } from '../../examples/learn/world/questions';
import { replyAs } from '../../examples/learn/world/reply';
import { startWorld } from '../../examples/learn/world/start';
import { SMALL_WORLD } from '../../examples/learn/world/worlds';
import { workerMessages } from '../../src/plan/prompt/worker';

test('a worker answers over HTTP by its name, draws its luck from the call id, and sends a bill', async () => {
  const [{ question } = { question: '' }] = questionSet(SMALL_WORLD, 'train', 1, 0);
  const [message] = workerMessages({ question, subtask: 'Solve it.', sees: [], layout: 'tagged' });
  const prompt = message?.text ?? '';
  const world = await startWorld({ world: SMALL_WORLD, seed: 5 });
  const client = new OpenAI({ apiKey: 'key-of-a-test', baseURL: `${world.url}/v1`, maxRetries: 0 });
  const ask = async (callId?: string) => {
    const body = { model: 'critic', messages: [{ role: 'user' as const, content: prompt }] };
    const headers = callId === undefined ? {} : { 'X-Client-Request-Id': callId };
    const completion = await client.chat.completions.create(body, { headers });
    return completion.choices[0]?.message.content;
  };
  const calls = Array.from({ length: 12 }, (_, index) => `call ${index}`);
  const replies = await Promise.all(calls.map(ask));
  expect(replies).toEqual(
    calls.map((callId) => replyAs(SMALL_WORLD, 5, { worker: 'critic', prompt, callId })),
  );
  expect(new Set(replies).size).toBeGreaterThan(1);
  expect(await ask()).toBe(await ask());
  expect(world.log.every(({ nanoUsd }) => nanoUsd !== null && nanoUsd > 0)).toBe(true);
  await world.close();
});
