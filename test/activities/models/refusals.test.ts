import { type Complete, createComplete } from '../../../src/activities/models';
import { MOST_SCHEMAS } from '../../../src/activities/models/refusals';
import type { Fault } from '../../../src/testing';
import { useProviders } from '../../testing/use-providers';
import { aRequest, DIALECTS, failureOf } from './ask';

const providers = useProviders();
let complete: Complete;
beforeEach(() => {
  complete = createComplete(() => Promise.reject(new Error('no weights in this test')));
});

const NO_STREAM: Fault = {
  fault: 'bad-request',
  message: "Unsupported value: 'stream' does not support true with this model.",
};
const NO_OPTIONS: Fault = { fault: 'unprocessable', message: 'extra fields not permitted: stream_options' };

/** Returns how each request asked to be answered. */
const asked = (): string[] =>
  providers.log.map(({ path, body }) => {
    const { stream, stream_options: options } = JSON.parse(body) as Record<string, unknown>;
    if (options !== undefined) return 'by a stream with its usage';
    return stream === true || path.includes(':stream') ? 'by a stream' : 'whole';
  });

test.each(DIALECTS)(
  '$name: a server that refuses to stream is asked for whole answers from then on',
  async ({ card }) => {
    const request = aRequest(card(providers.url));
    providers.script('sim-1', [NO_STREAM]);
    const [first, second] = [await complete(request), await complete(request)];
    expect(first).toMatchObject({ finish: 'stop', dropped: ['stream'], usage: { inputTokens: 7 } });
    expect(second.dropped).toEqual(['stream']);
    expect(asked().slice(1)).toEqual(['whole', 'whole']);
  },
);

test('a server that rejects stream_options streams without them, with unknown usage', async () => {
  const [chat] = DIALECTS;
  if (chat === undefined) throw new Error('it is the first');
  const request = aRequest(chat.card(providers.url));
  providers.script('sim-1', [NO_OPTIONS]);
  expect(await complete(request)).toMatchObject({ dropped: ['stream_options'], usage: null });
  await complete(request);
  expect(asked()).toEqual(['by a stream with its usage', 'by a stream', 'by a stream']);
});

test.each(DIALECTS)(
  '$name: an error that merely mentions streams is reported, and streaming stays on',
  async ({ card }) => {
    const request = aRequest(card(providers.url));
    providers.script('sim-1', [
      NO_STREAM,
      { fault: 'bad-request', message: 'The stream of words is too long.' },
    ]);
    expect((await failureOf(complete, request))?.message).toContain('The stream of words is too long.');
    expect((await complete(request)).dropped).toEqual([]);
    expect(asked().at(2)).toMatch(/^by a stream/);
  },
);

test('a request for a whole answer reports nothing as dropped', async () => {
  for (const { card } of DIALECTS) {
    const request = aRequest({ ...card(providers.url), idleTimeoutMs: undefined });
    expect((await complete(request)).dropped).toEqual([]);
  }
  expect(new Set(asked())).toEqual(new Set(['whole']));
});

const ANSWER = { name: 'answer', schema: { type: 'object', patternProperties: {} } };
const NO_SCHEMA: Fault = {
  fault: 'bad-request',
  message: "Invalid schema: 'patternProperties' is not permitted.",
};

test.each(DIALECTS)(
  '$name: a schema that a vendor rejects is omitted from then on, and other schemas are not',
  async ({ card }) => {
    const capabilities = { sampling: true, effort: [], jsonSchema: true, maxOutputTokens: null };
    const request = { ...aRequest({ ...card(providers.url), capabilities }), outputSchema: ANSWER };
    providers.script('sim-1', [NO_SCHEMA]);
    expect((await complete(request)).dropped).toEqual(['outputSchema']);
    expect((await complete(request)).dropped).toEqual(['outputSchema']);
    const other = { ...request, outputSchema: { name: 'answer', schema: { type: 'object' } } };
    expect((await complete(other)).dropped).toEqual([]);
    const holds = providers.log.map(({ body }) => /schema/i.test(body));
    expect(holds).toEqual([true, false, false, true]);
  },
);

test('schemas of callers push out each other, and nothing that was learnt about the server', async () => {
  const [chat] = DIALECTS;
  if (chat === undefined) throw new Error('it is the first');
  const capabilities = { sampling: true, effort: [], jsonSchema: true, maxOutputTokens: null };
  const request = () => aRequest({ ...chat.card(providers.url), capabilities });
  const refuse = async (title: string) => {
    providers.script('sim-1', [NO_SCHEMA]);
    return complete({ ...request(), outputSchema: { name: 'answer', schema: { ...ANSWER.schema, title } } });
  };
  providers.script('sim-1', [NO_STREAM]);
  await complete(request());
  await refuse('first');
  for (let count = 0; count < MOST_SCHEMAS; count += 1) await refuse(`schema ${count}`);
  const before = providers.log.length;
  expect((await complete(request())).dropped).toEqual(['stream']);
  await complete({
    ...request(),
    outputSchema: { name: 'answer', schema: { ...ANSWER.schema, title: 'first' } },
  });
  expect(providers.log.slice(before).map(({ body }) => /schema/i.test(body))).toEqual([false, true]);
});

test('a schema is sent to OpenAI as strict only if its strict mode supports it', async () => {
  const [chat] = DIALECTS;
  if (chat === undefined) throw new Error('it is the first');
  const capabilities = { sampling: true, effort: [], jsonSchema: true, maxOutputTokens: null };
  const request = aRequest({ ...chat.card(providers.url), capabilities });
  const legs = { type: 'object', properties: { legs: { type: 'integer' } } };
  const closed = { ...legs, required: ['legs'], additionalProperties: false };
  const list = { type: 'object', properties: { all: { type: 'array', items: legs } }, required: ['all'] };
  for (const schema of [closed, legs, { ...list, additionalProperties: false }]) {
    await complete({ ...request, outputSchema: { name: 'answer', schema } });
  }
  expect(providers.log.map(({ body }) => /"strict":(true|false)/.exec(body)?.[1])).toEqual([
    'true',
    'false',
    'false',
  ]);
});

describe('a chat of a model that refuses a setting', () => {
  const [chat] = DIALECTS;
  const fields = (): string[][] =>
    providers.log.map(({ body }) => Object.keys(JSON.parse(body) as object).filter((key) => OURS.has(key)));
  const OURS = new Set(['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'stream']);
  const requestFor = (changes: object = {}) => {
    if (chat === undefined) throw new Error('it is the first');
    return aRequest({ ...chat.card(providers.url), idleTimeoutMs: undefined, ...changes });
  };
  const refuse = (...messages: string[]): void => {
    providers.script(
      'sim-1',
      messages.map((message): Fault => ({ fault: 'bad-request', message })),
    );
  };

  test.each([
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    'max_tokens is not taken',
    'This model has no field max_tokens; send max_completion_tokens.',
  ])('%s: it is asked by the other name, from then on, and nothing is dropped', async (message) => {
    refuse(message);
    expect((await complete(requestFor())).dropped).toEqual([]);
    expect((await complete(requestFor())).dropped).toEqual([]);
    expect(fields()).toEqual([['max_tokens'], ['max_completion_tokens'], ['max_completion_tokens']]);
  });

  test.each([
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    'invalid temperature: only 1 is allowed for this model',
    '`temperature` is deprecated for this model.',
  ])('%s: it is left out from then on, and listed as dropped', async (message) => {
    refuse(message);
    const request = requestFor({ temperature: 0.2 });
    expect((await complete(request)).dropped).toEqual(['temperature']);
    expect((await complete(request)).dropped).toEqual(['temperature']);
    // Another card of the model asks for none, so nothing is dropped there.
    expect((await complete(requestFor())).dropped).toEqual([]);
    expect(fields().map((names) => names.includes('temperature'))).toEqual([true, false, false, false]);
  });

  test('several refusals after each other are all remembered', async () => {
    refuse('max_tokens: unknown field', 'temperature: unknown field', 'top_p: unknown field');
    const request = requestFor({ temperature: 0.2, topP: 0.9 });
    expect((await complete(request)).dropped).toEqual(['temperature', 'topP']);
    const before = providers.log.length;
    await complete(request);
    expect(fields().slice(before)).toEqual([['max_completion_tokens']]);
  });

  test.each([
    'max_tokens is too large: 50000. This model supports at most 16384 completion tokens.',
    "This model's maximum context length is 4096 tokens; please reduce max_tokens.",
    "Invalid 'temperature': expected a value <= 2, but got 3.",
    'This request requires more credits, or fewer max_tokens.',
  ])('%s: that is about its value, and is reported after one request', async (message) => {
    refuse(message);
    const failure = await failureOf(complete, requestFor({ temperature: 3 }));
    expect(failure?.message).toContain(message.replace(/\.$/, ''));
    expect(providers.log).toHaveLength(1);
  });
});
