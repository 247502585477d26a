import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { startSimulatedProviders } from '../../src/testing';
import type { RequestRecord, SimulatedProviders, Simulation } from '../../src/testing';

const open: SimulatedProviders[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((providers) => providers.close()));
});

async function start(simulation?: Simulation): Promise<SimulatedProviders> {
  const providers = await startSimulatedProviders(simulation);
  open.push(providers);
  return providers;
}

function clientOf({ url }: SimulatedProviders): OpenAI {
  return new OpenAI({ apiKey: 'key-of-a-test', baseURL: `${url}/v1`, maxRetries: 0 });
}

async function ask(providers: SimulatedProviders, model: string, input = 'Why?'): Promise<string> {
  return (await clientOf(providers).responses.create({ model, input })).output_text;
}

test('the log holds a request as it came, and how it ended', async () => {
  const events: unknown[] = [];
  const providers = await start({
    models: { gpt: { answer: { text: 'Because.', usage: { inputTokens: 9 } } } },
    observe: (event, { sequence, outcome }) => events.push([event, sequence, outcome]),
  });
  await ask(providers, 'gpt');
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

test('behaviours by model, a fallback for the others, and an answer replaced', async () => {
  const providers = await start({ models: { gpt: { answer: 'I am GPT.' } }, fallback: { answer: 'Who?' } });
  expect(await ask(providers, 'gpt')).toBe('I am GPT.');
  expect(await ask(providers, 'other')).toBe('Who?');
  providers.answer('gpt', ({ text }) => text.toUpperCase());
  expect(await ask(providers, 'gpt', 'shout')).toBe('SHOUT');
});

test('an answering function that throws is told to the client', async () => {
  const providers = await start();
  providers.answer('gpt', () => {
    throw new Error('no such step');
  });
  await expect(ask(providers, 'gpt')).rejects.toThrow(/400 .*gpt threw: Error: no such step/);
  expect(providers.log[0]?.outcome).toBe('rejected');
});

test('a held model answers when released; others go on', async () => {
  const providers = await start();
  const release = providers.hold('slow');
  const held = [ask(providers, 'slow', 'a'), ask(providers, 'slow', 'b')];
  await providers.waitForLog((log) => log.length === 2);
  await ask(providers, 'quick');
  expect(providers.log.map(({ outcome }) => outcome)).toEqual([null, null, 'answered']);
  release();
  expect(await Promise.all(held)).toHaveLength(2);
  expect(providers.log.map(({ outcome }) => outcome)).toEqual(['answered', 'answered', 'answered']);
});

test('a script is handed out in the order of arrival, whatever the latencies', async () => {
  const providers = await start();
  providers.script('gpt', [{ text: 'first', delayMs: 200 }, 'second']);
  const first = ask(providers, 'gpt');
  await providers.waitForRequest(({ model }) => model === 'gpt');
  expect(await ask(providers, 'gpt')).toBe('second');
  expect(await first).toBe('first');
});

test('latency: the log tells when an answer went out', async () => {
  const providers = await start({ models: { gpt: { delayMs: 50 } } });
  providers.script('gpt', [{ text: 'late', delayMs: 100 }]);
  await ask(providers, 'gpt');
  const { receivedAt = 0, respondedAt = 0 } = providers.log[0] ?? {};
  expect((respondedAt ?? 0) - receivedAt).toBeGreaterThanOrEqual(149);
});

test('a wait sees what was logged before it, and what comes after', async () => {
  const providers = await start();
  const isFor = (name: string) => (record: RequestRecord) => record.model === name;
  const later = providers.waitForRequest(isFor('later'));
  await ask(providers, 'early');
  expect((await providers.waitForRequest(isFor('early'))).sequence).toBe(1);
  await ask(providers, 'later');
  expect((await later).sequence).toBe(2);
});

test('a wait that cannot come true fails, and says why', async () => {
  const providers = await start();
  await ask(providers, 'gpt');
  await expect(providers.waitForClose(1)).rejects.toThrow('it ended as answered');
  const never = providers.waitForRequest(({ model }) => model === 'nobody');
  await Promise.all([expect(never).rejects.toThrow('closed, with 1 in the log'), providers.close()]);
  open.splice(0);
});

test('close ends open requests, and calls none of them closed by its client', async () => {
  const providers = await startSimulatedProviders();
  providers.script('gpt', [{ fault: 'hang' }]);
  const asked = ask(providers, 'gpt');
  const request = await providers.waitForRequest(() => true);
  await Promise.all([expect(asked).rejects.toThrow('Connection error'), providers.close()]);
  expect(request.outcome).toBeNull();
});

test('models are listed to each vendor’s client; no other address is simulated', async () => {
  const providers = await start({ models: { gpt: {}, opus: {} } });
  const openai = await clientOf(providers).models.list();
  expect(openai.data.map(({ id, object }) => [object, id])).toEqual([
    ['model', 'gpt'],
    ['model', 'opus'],
  ]);
  const client = new Anthropic({ apiKey: 'key-of-a-test', baseURL: providers.url, maxRetries: 0 });
  const anthropic = await client.models.list();
  expect(anthropic.data.map(({ id, type }) => [type, id])).toEqual([
    ['model', 'gpt'],
    ['model', 'opus'],
  ]);
  expect(anthropic).toMatchObject({ has_more: false, first_id: 'gpt', last_id: 'opus' });
  const gemini = await fetch(`${providers.url}/v1beta/models`);
  expect(await gemini.json()).toEqual({ models: [{ name: 'models/gpt' }, { name: 'models/opus' }] });

  const embeddings = clientOf(providers).embeddings.create({ model: 'gpt', input: 'x' });
  await expect(embeddings).rejects.toThrow('Nothing is simulated at POST /v1/embeddings');
});
