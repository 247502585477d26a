import { startSimulatedProviders } from '../../src/testing';
import type { Protocol, SimulatedProviders } from '../../src/testing';
import { SDK_CLIENTS } from './sdk-clients';

const PROTOCOLS: readonly Protocol[] = ['openai-chat', 'openai-responses', 'anthropic', 'google'];

let providers: SimulatedProviders;
beforeEach(async () => {
  providers = await startSimulatedProviders();
});
afterEach(() => providers.close());

test.each(PROTOCOLS)('%s: replies nobody wants are replies, and billed', async (protocol) => {
  providers.script('model', [
    { fault: 'empty' },
    { fault: 'refusal' },
    { fault: 'filtered' },
    { fault: 'length' },
    { fault: 'length-without-text' },
    { fault: 'huge' },
  ]);
  const texts: number[] = [];
  for (let i = 0; i < 6; i += 1) {
    texts.push((await SDK_CLIENTS[protocol](providers.url)).text?.length ?? 0);
  }
  expect(texts).toEqual([0, 0, 0, 35, 0, 2 * 1024 * 1024]);
  const input = { inputTokens: 4, cachedInputTokens: 0 };
  expect(providers.log.map(({ outcome, usage }) => [outcome, usage])).toEqual([
    ['fault:empty', { ...input, outputTokens: 0, reasoningTokens: 0 }],
    ['fault:refusal', { ...input, outputTokens: 0, reasoningTokens: 0 }],
    ['fault:filtered', { ...input, outputTokens: 0, reasoningTokens: 0 }],
    ['fault:length', { ...input, outputTokens: 9, reasoningTokens: 0 }],
    ['fault:length-without-text', { ...input, outputTokens: 100, reasoningTokens: 100 }],
    ['fault:huge', { ...input, outputTokens: 524_288, reasoningTokens: 0 }],
  ]);
});

const PRICE = { input: 2, output: 10 };

test.each(PROTOCOLS)(
  '%s: the model’s own answer with a flaw is billed, whatever it says',
  async (protocol) => {
    await providers.close();
    providers = await startSimulatedProviders({ models: { model: { answer: 'Because.', price: PRICE } } });
    providers.script('model', [
      { fault: 'drip', ms: 40 },
      { fault: 'usage-missing' },
      { fault: 'usage-zero' },
      { fault: 'usage-wrong' },
    ]);
    const stated: (readonly number[])[] = [];
    for (let i = 0; i < 4; i += 1) {
      const { text, usage } = await SDK_CLIENTS[protocol](providers.url);
      expect(text).toBe('Because.');
      stated.push(numbersIn(usage));
    }
    // In and out, in whatever fields the vendor tells them.
    expect(stated[0]).toEqual(expect.arrayContaining([4, 2]));
    expect(stated[1]).toEqual([]);
    expect(new Set(stated[2])).toEqual(new Set([0]));
    expect(stated[3]).toEqual(expect.arrayContaining([12_345, 24_690]));

    // 4 tokens in at 2,000 nano-USD, 2 out at 10,000.
    expect(providers.log.map(({ outcome, nanoUsd }) => [outcome, nanoUsd])).toEqual([
      ['fault:drip', 28_000],
      ['fault:usage-missing', 28_000],
      ['fault:usage-zero', 28_000],
      ['fault:usage-wrong', 271_590_000],
    ]);
  },
);

/** All numbers of a usage, however deep. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

test('drip: the body comes in many pieces, and is the same', async () => {
  providers.script('model', [{ fault: 'drip', ms: 100 }]);
  const body = JSON.stringify({ model: 'model', input: 'Why?' });
  const response = await fetch(`${providers.url}/v1/responses`, { method: 'POST', body });
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body ?? []) pieces.push(piece as Uint8Array);
  expect(pieces.length).toBeGreaterThan(1);
  expect(JSON.parse(Buffer.concat(pieces).toString('utf8'))).toMatchObject({ object: 'response' });
});

test('what is not billed costs nothing; without a price nobody knows', async () => {
  providers.script('model', [{ fault: 'unavailable' }, 'Because.']);
  await SDK_CLIENTS['openai-chat'](providers.url).catch(() => undefined);
  await SDK_CLIENTS['openai-chat'](providers.url);
  expect(providers.log.map(({ usage, nanoUsd }) => [usage !== null, nanoUsd])).toEqual([
    [false, 0],
    [true, null],
  ]);
});
