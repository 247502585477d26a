import { startSimulatedProviders } from '../../../src/testing';
import type { Protocol, Reply, SimulatedProviders } from '../../../src/testing';
import { SDK_CLIENTS } from '../sdk-clients';

let providers: SimulatedProviders;
beforeEach(async () => {
  providers = await startSimulatedProviders();
});
afterEach(() => providers.close());

async function ask(protocol: Protocol, reply: Reply): Promise<unknown> {
  providers.script('model', [reply]);
  const { id, ...read } = await SDK_CLIENTS[protocol](providers.url);
  expect(id).toMatch(/-?\d+$/);
  return read;
}

const usage = { inputTokens: 100, outputTokens: 50, cachedInputTokens: 30, reasoningTokens: 20 };

test.each<[Protocol, object]>([
  [
    'openai-chat',
    {
      finish: 'stop',
      usage: expect.objectContaining({
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: expect.objectContaining({ cached_tokens: 30 }) as unknown,
        completion_tokens_details: expect.objectContaining({ reasoning_tokens: 20 }) as unknown,
      }) as unknown,
    },
  ],
  [
    'openai-responses',
    {
      finish: 'completed',
      usage: {
        input_tokens: 100,
        output_tokens: 50,
        total_tokens: 150,
        input_tokens_details: { cached_tokens: 30, cache_write_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 20 },
      },
    },
  ],
  [
    'anthropic',
    {
      finish: 'end_turn',
      usage: expect.objectContaining({
        input_tokens: 70,
        cache_read_input_tokens: 30,
        output_tokens: 50,
        output_tokens_details: { thinking_tokens: 20 },
      }) as unknown,
    },
  ],
  [
    'google',
    {
      finish: 'STOP',
      usage: {
        promptTokenCount: 100,
        cachedContentTokenCount: 30,
        candidatesTokenCount: 30,
        thoughtsTokenCount: 20,
        totalTokenCount: 150,
      },
    },
  ],
])('%s: a whole answer with its usage', async (protocol, expected) => {
  expect(await ask(protocol, { text: 'Because.', usage })).toEqual({
    text: 'Because.',
    refusal: null,
    ...expected,
  });
});

test.each<[Protocol, object, object]>([
  [
    'openai-chat',
    { finish: 'stop', text: null, refusal: 'Not that.' },
    { finish: 'content_filter', text: '', refusal: null },
  ],
  [
    'openai-responses',
    { finish: 'completed', text: '', refusal: 'Not that.' },
    { finish: 'content_filter', text: '', refusal: null },
  ],
  [
    'anthropic',
    { finish: 'refusal', text: '', refusal: 'Not that.' },
    { finish: 'refusal', text: '', refusal: null },
  ],
  // Google's SDK leaves out the words of the wire's `finishMessage`.
  [
    'google',
    { finish: 'SAFETY', text: undefined, refusal: null },
    { finish: 'PROHIBITED_CONTENT', text: undefined, refusal: null },
  ],
])('%s: a refusal, and a safety filter', async (protocol, refused, filtered) => {
  const declined: Reply = { text: '', finish: 'refusal', refusal: 'Not that.' };
  expect(await ask(protocol, declined)).toMatchObject(refused);
  expect(await ask(protocol, { text: '', finish: 'filtered' })).toMatchObject(filtered);
});

test.each<[Protocol, string, unknown]>([
  ['openai-chat', 'length', ''],
  ['openai-responses', 'max_output_tokens', ''],
  ['anthropic', 'max_tokens', ''],
  ['google', 'MAX_TOKENS', undefined],
])('%s: a length stop, with text and without', async (protocol, finish, none) => {
  expect(await ask(protocol, { text: 'Half of', finish: 'length' })).toMatchObject({
    text: 'Half of',
    finish,
  });
  expect(await ask(protocol, { text: '', finish: 'length', usage })).toMatchObject({ text: none, finish });
});

/** The kinds of the pieces that a reply is made of, in order. */
async function kindsOf(path: string, request: object, reply: Reply): Promise<string[]> {
  providers.script('model', [reply]);
  const body = JSON.stringify({ model: 'model', ...request });
  const response = await fetch(providers.url + path, { method: 'POST', body });
  const { output = [], content = [] } = (await response.json()) as Partial<
    Record<'output' | 'content', { type: string }[]>
  >;
  return [...output, ...content].map(({ type }) => type);
}

test('reasoning is a piece of its own, beside the text or without any', async () => {
  const answered: Reply = { text: 'Because.', usage };
  const cut: Reply = { text: '', finish: 'length', usage };

  const responses = { input: 'Why?' };
  expect(await kindsOf('/v1/responses', responses, answered)).toEqual(['reasoning', 'message']);
  expect(await kindsOf('/v1/responses', responses, cut)).toEqual(['reasoning']);
  expect(await kindsOf('/v1/responses', responses, { text: 'Because.' })).toEqual(['message']);

  const messages = { max_tokens: 100, messages: [{ role: 'user', content: 'Why?' }] };
  expect(await kindsOf('/v1/messages', messages, answered)).toEqual(['thinking', 'text']);
  expect(await kindsOf('/v1/messages', messages, cut)).toEqual(['thinking']);
  expect(await kindsOf('/v1/messages', messages, { text: 'Because.' })).toEqual(['text']);
});
