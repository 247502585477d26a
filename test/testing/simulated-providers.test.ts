import Anthropic from '@anthropic-ai/sdk';
import { startSimulatedProviders } from '../../src/testing';
import { openAiAt } from './sdk-clients';
import { useProviders } from './use-providers';

const events: unknown[] = [];
const providers = useProviders({
  models: { gpt: { answer: 'I am GPT.' }, opus: { delayMs: 50 } },
  fallback: { answer: 'Who?' },
  observe: (event, { sequence, outcome }) => events.push([event, sequence, outcome]),
});

async function ask(model: string, input = 'Why?', asked = providers): Promise<string> {
  return (await openAiAt(asked.url).responses.create({ model, input })).output_text;
}

test('the log records each request as it came, and how it ended', async () => {
  providers.answer('gpt', { text: 'Because.', usage: { inputTokens: 9 } });
  await ask('gpt');
  const [record] = providers.log;
  expect(record).toMatchObject({
    sequence: 1,
    protocol: 'openai-responses',
    model: 'gpt',
    path: '/v1/responses',
    body: '{"model":"gpt","input":"Why?"}',
    outcome: 'answered',
    usage: { inputTokens: 9, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 },
  });
  expect(record?.headers.authorization).toBe('Bearer key-of-a-test');
  expect(record?.respondedAt).toBeGreaterThanOrEqual(record?.receivedAt ?? Infinity);
  expect(events).toEqual([
    ['received', 1, null],
    ['finished', 1, 'answered'],
  ]);
});

test('models behave as configured, others use the fallback, and answers can be replaced', async () => {
  expect(await ask('gpt')).toBe('I am GPT.');
  expect(await ask('other')).toBe('Who?');
  providers.answer('gpt', ({ text }) => text.toUpperCase());
  expect(await ask('gpt', 'shout')).toBe('SHOUT');
});

test('an error thrown by an answering function is reported to the client', async () => {
  providers.answer('gpt', () => {
    throw new Error('no such step');
  });
  await expect(ask('gpt')).rejects.toThrow(/400 .*gpt threw: Error: no such step/);
  expect(providers.log[0]?.outcome).toBe('rejected');
});

test('a held model answers when released, and other models go on meanwhile', async () => {
  const release = providers.hold('slow');
  const held = [ask('slow', 'a'), ask('slow', 'b')];
  await providers.waitForLog((log) => log.length === 2);
  await ask('quick');
  expect(providers.log.map(({ outcome }) => outcome)).toEqual([null, null, 'answered']);
  release();
  expect(await Promise.all(held)).toHaveLength(2);
  expect(providers.log.map(({ outcome }) => outcome)).toEqual(['answered', 'answered', 'answered']);
});

test('a script is played in the order of arrival, whatever the latencies', async () => {
  providers.script('gpt', [{ text: 'first', delayMs: 200 }, 'second']);
  const first = ask('gpt');
  await providers.waitForRequest(({ model }) => model === 'gpt');
  expect(await ask('gpt')).toBe('second');
  expect(await first).toBe('first');
});

test('the log records when a delayed answer was sent, and an unknown cost without a price', async () => {
  providers.script('opus', [{ text: 'late', delayMs: 100 }]);
  await ask('opus');
  const { receivedAt = 0, respondedAt = 0, nanoUsd } = providers.log[0] ?? {};
  expect((respondedAt ?? 0) - receivedAt).toBeGreaterThanOrEqual(149);
  expect(nanoUsd).toBeNull();
});

test('a wait that can never be satisfied fails with the reason', async () => {
  const closing = await startSimulatedProviders();
  await ask('gpt', 'Why?', closing);
  await expect(closing.waitForClose(1)).rejects.toThrow('it ended as answered');
  const never = closing.waitForRequest(({ model }) => model === 'nobody');
  await Promise.all([expect(never).rejects.toThrow('closed, with 1 in the log'), closing.close()]);
});

test('close ends open requests, and does not log them as closed by their client', async () => {
  const closing = await startSimulatedProviders();
  closing.script('gpt', [{ fault: 'hang' }]);
  const asked = ask('gpt', 'Why?', closing);
  const request = await closing.waitForRequest(() => true);
  await Promise.all([expect(asked).rejects.toThrow('Connection error'), closing.close()]);
  expect(request.outcome).toBeNull();
});

test('each vendor’s client can list the models; no other address is simulated', async () => {
  const openai = await openAiAt(providers.url).models.list();
  expect(openai.data.map(({ id }) => id)).toEqual(['gpt', 'opus']);
  const client = new Anthropic({ apiKey: 'key-of-a-test', baseURL: providers.url, maxRetries: 0 });
  const anthropic = await client.models.list();
  expect(anthropic.data.map(({ id }) => id)).toEqual(['gpt', 'opus']);
  expect(anthropic).toMatchObject({ has_more: false, first_id: 'gpt', last_id: 'opus' });
  const gemini = await fetch(`${providers.url}/v1beta/models`);
  expect(await gemini.json()).toEqual({ models: [{ name: 'models/gpt' }, { name: 'models/opus' }] });

  const embeddings = openAiAt(providers.url).embeddings.create({ model: 'gpt', input: 'x' });
  await expect(embeddings).rejects.toThrow('Nothing is simulated at POST /v1/embeddings');
});
