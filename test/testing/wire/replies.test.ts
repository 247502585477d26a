import type { Protocol, Reply } from '../../../src/testing';
import { SDK_CLIENTS } from '../sdk-clients';
import { post, PROTOCOLS, useProviders } from '../use-providers';

const providers = useProviders();

/** Returns what the vendor's SDK reads from a whole reply, and checks that the streamed reply gives the same. */
async function ask(protocol: Protocol, reply: Reply): Promise<unknown> {
  providers.script('model', [reply, reply]);
  const { id, ...whole } = await SDK_CLIENTS[protocol](providers.url);
  expect(id).toMatch(/-?\d+$/);
  const streamed = await SDK_CLIENTS[protocol](providers.url, undefined, true);
  expect({ ...streamed, id }).toEqual({ ...whole, id });
  return whole;
}

const usage = { inputTokens: 100, outputTokens: 50, cachedInputTokens: 30, reasoningTokens: 20 };

const FINISHES = {
  'openai-chat': 'stop',
  'openai-responses': 'completed',
  anthropic: 'end_turn',
  google: 'STOP',
};
const USAGES: Readonly<Record<Protocol, object>> = {
  'openai-chat': {
    prompt_tokens: 100,
    completion_tokens: 50,
    total_tokens: 150,
    prompt_tokens_details: { cached_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 20 },
  },
  'openai-responses': {
    input_tokens: 100,
    output_tokens: 50,
    total_tokens: 150,
    input_tokens_details: { cached_tokens: 30, cache_write_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 20 },
  },
  anthropic: {
    input_tokens: 70,
    cache_read_input_tokens: 30,
    output_tokens: 50,
    output_tokens_details: { thinking_tokens: 20 },
  },
  google: {
    promptTokenCount: 100,
    cachedContentTokenCount: 30,
    candidatesTokenCount: 30,
    thoughtsTokenCount: 20,
    totalTokenCount: 150,
  },
};

test.each(PROTOCOLS)('%s: the SDK reads a whole answer with its usage', async (protocol) => {
  const text = 'Because of 🙂, Ünïcödé and all that it takes to fill more than one piece of a stream.';
  const expected = { text, refusal: null, finish: FINISHES[protocol], usage: USAGES[protocol] };
  expect(await ask(protocol, { text, usage })).toMatchObject(expected);
});

test.each<[Protocol, object, object]>([
  [
    'openai-chat',
    { finish: 'stop', text: '', refusal: 'Not that.' },
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
  // Google's SDK drops the `finishMessage` of the wire format.
  ['google', { finish: 'SAFETY', text: '' }, { finish: 'PROHIBITED_CONTENT', text: '' }],
])('%s: the SDK reads a refusal and a safety filter', async (protocol, refused, filtered) => {
  const declined: Reply = { text: '', finish: 'refusal', refusal: 'Not that.' };
  expect(await ask(protocol, declined)).toMatchObject(refused);
  expect(await ask(protocol, { text: '', finish: 'filtered' })).toMatchObject(filtered);
});

test.each<[Protocol, string]>([
  ['openai-chat', 'length'],
  ['openai-responses', 'max_output_tokens'],
  ['anthropic', 'max_tokens'],
  ['google', 'MAX_TOKENS'],
])('%s: the SDK reads a stop at the length limit, with text and without', async (protocol, finish) => {
  expect(await ask(protocol, { text: 'Half of', finish: 'length' })).toMatchObject({
    text: 'Half of',
    finish,
  });
  expect(await ask(protocol, { text: '', finish: 'length', usage })).toMatchObject({ text: '', finish });
});

/** Returns the types of a reply's items, in order. */
async function kindsOf(path: string, request: object, reply: Reply): Promise<string[]> {
  providers.script('model', [reply]);
  const response = await post(providers, path, JSON.stringify({ model: 'model', ...request }));
  const { output = [], content = [] } = (await response.json()) as Partial<
    Record<'output' | 'content', { type: string }[]>
  >;
  return [...output, ...content].map(({ type }) => type);
}

test('reasoning is an item of its own, with or without text', async () => {
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
