import * as fc from 'fast-check';
import { billOf, nanoUsdOf } from '../../src/budget/nano-usd';
import { priceOf } from '../../src/config/cards';
import table from '../../src/config/prices.json';
import type { Usage } from '../../src';
import type { Price, Rates } from '../../src/protocol/cards';

const usage = (part: Partial<Usage>): Usage => ({
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  ...part,
});

describe('nanoUsdOf', () => {
  it.each<[string, Partial<Usage>, Price, number]>([
    ['a token at 2 USD per million', { inputTokens: 1 }, { input: 2, output: 10 }, 2000],
    ['input and output', { inputTokens: 10, outputTokens: 5 }, { input: 2, output: 10 }, 70_000],
    [
      'cached input at its own rate',
      { inputTokens: 10, cachedInputTokens: 4 },
      { input: 2, output: 10, cachedInput: 0.2 },
      12_800,
    ],
    [
      'cached and written input without rates',
      { inputTokens: 10, cachedInputTokens: 4, cacheWriteTokens: 5 },
      { input: 2, output: 10 },
      20_000,
    ],
    [
      'more cached and written than there was',
      { inputTokens: 10, cachedInputTokens: 8, cacheWriteTokens: 8, hourCacheWriteTokens: 8 },
      { input: 1, output: 1, cachedInput: 0.1, cacheWrite: 1.25, hourCacheWrite: 2 },
      4800,
    ],
    ['reasoning, which is output', { outputTokens: 5, reasoningTokens: 4 }, { input: 2, output: 10 }, 50_000],
    ['half a nano-USD, up', { inputTokens: 1 }, { input: 0.0005, output: 0 }, 1],
    ['less than half, down', { inputTokens: 1 }, { input: 0.000499, output: 0 }, 0],
    ['a rate no binary fraction holds', { inputTokens: 1_000_000 }, { input: 0.1, output: 0 }, 100_000_000],
    [
      'a prompt at the threshold',
      { inputTokens: 100 },
      { input: 1, output: 1, longPrompt: { over: 100, input: 2, output: 2 } },
      100_000,
    ],
    [
      'a prompt beyond the threshold, whole',
      { inputTokens: 101, outputTokens: 1 },
      { input: 1, output: 1, longPrompt: { over: 100, input: 2, output: 3 } },
      205_000,
    ],
  ])('%s', (_, part, price, expected) => {
    expect(nanoUsdOf(usage(part), price)).toBe(expected);
  });

  const micros = fc.nat({ max: 200_000_000 });

  it('is the exact sum, off by at most half a nano-USD', () => {
    const tokens = fc.nat({ max: 2_000_000 });
    fc.assert(
      fc.property(
        fc.tuple(tokens, tokens, tokens, tokens, tokens),
        fc.tuple(micros, micros, micros, micros, micros),
        (
          [fresh, cached, written, hour, outputTokens],
          [input, cachedInput, cacheWrite, hourCacheWrite, output],
        ) => {
          const used = usage({
            inputTokens: fresh + cached + written + hour,
            cachedInputTokens: cached,
            cacheWriteTokens: written + hour,
            hourCacheWriteTokens: hour,
            outputTokens,
          });
          const price = {
            input: input / 1e6,
            cachedInput: cachedInput / 1e6,
            cacheWrite: cacheWrite / 1e6,
            hourCacheWrite: hourCacheWrite / 1e6,
            output: output / 1e6,
          };
          const pico =
            BigInt(fresh) * BigInt(input) +
            BigInt(cached) * BigInt(cachedInput) +
            BigInt(written) * BigInt(cacheWrite) +
            BigInt(hour) * BigInt(hourCacheWrite) +
            BigInt(outputTokens) * BigInt(output);
          const error = BigInt(nanoUsdOf(used, price)) * 1000n - pico;
          return -500n < error && error <= 500n;
        },
      ),
    );
  });

  /** Rates as vendors have them: reading a cache is cheaper than input, writing one dearer, an hour dearest. */
  const ratesFrom = (least: Rates): fc.Arbitrary<Required<Rates>> =>
    fc.tuple(micros, micros, micros, micros, micros).map(([a, b, c, d, output]) => {
      const [cachedInput = 0, input = 0, cacheWrite = 0, hourCacheWrite = 0] = [a, b, c, d]
        .sort((x, y) => x - y)
        .map((rate) => rate / 1e6);
      return {
        input: least.input + input,
        output: least.output + output / 1e6,
        cachedInput: (least.cachedInput ?? 0) + cachedInput,
        cacheWrite: (least.cacheWrite ?? 0) + cacheWrite,
        hourCacheWrite: (least.hourCacheWrite ?? 0) + hourCacheWrite,
      };
    });
  const prices = ratesFrom({ input: 0, output: 0 }).chain((rates) =>
    fc.tuple(ratesFrom(rates), fc.nat({ max: 200 })).map(([long, over]): Price => ({
      ...rates,
      longPrompt: { over, ...long },
    })),
  );
  const counts = fc.nat({ max: 150 });
  const usages = fc
    .tuple(counts, counts, counts, counts, counts)
    .map(([inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, hourCacheWriteTokens]) =>
      usage({ inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, hourCacheWriteTokens }),
    );

  it.each([
    ['inputTokens', 1],
    ['outputTokens', 1],
    ['cacheWriteTokens', 1],
    ['hourCacheWriteTokens', 1],
    ['cachedInputTokens', -1],
  ] as const)('with more %s goes one way only (%i)', (count, direction) => {
    fc.assert(
      fc.property(usages, prices, counts, (used, price, more) => {
        const grown = { ...used, [count]: (used[count] ?? 0) + more };
        return direction * (nanoUsdOf(grown, price) - nanoUsdOf(used, price)) >= 0;
      }),
    );
  });

  it('is never above that of the same tokens, all written to the cache', () => {
    fc.assert(
      fc.property(usages, prices, (used, price) => {
        const { inputTokens, outputTokens } = used;
        const all = { cacheWriteTokens: inputTokens, hourCacheWriteTokens: inputTokens };
        return nanoUsdOf(used, price) <= nanoUsdOf(usage({ inputTokens, outputTokens, ...all }), price);
      }),
    );
  });

  it('finds every bundled price in that order, so that bounds made with it hold', () => {
    const bundled: Readonly<Record<string, Readonly<Record<string, readonly { price: Price }[]>>>> =
      table.endpoints;
    const all = Object.values(bundled).flatMap((models) => Object.values(models).flat());
    expect(all.length).toBeGreaterThan(40);
    for (const { price } of all) {
      const { longPrompt = price } = price;
      for (const { input, cachedInput = input, cacheWrite = input, hourCacheWrite = cacheWrite } of [
        price,
        longPrompt,
      ]) {
        expect([cachedInput, input, cacheWrite, hourCacheWrite]).toEqual(
          [cachedInput, input, cacheWrite, hourCacheWrite].sort((a, b) => a - b),
        );
      }
      expect(longPrompt.input).toBeGreaterThanOrEqual(price.input);
      expect(longPrompt.output).toBeGreaterThanOrEqual(price.output);
    }
  });
});

describe('billOf', () => {
  const NOVEMBER = new Date('2026-11-21');
  const usual = { timeout: '10m', capabilities: {}, describe: 'names' } as const;
  const openai = (model: string): Price | null =>
    priceOf({ ...usual, provider: 'openai', model }, NOVEMBER).price;
  const anthropic = (model: string): Price | null =>
    priceOf({ ...usual, provider: 'anthropic', model }, NOVEMBER).price;
  const google = (model: string): Price | null =>
    priceOf({ ...usual, provider: 'google', model }, NOVEMBER).price;

  // Rates and rules as the vendors' pages told them in November 2026; the sums were made by hand, in micro-USD.
  // https://developers.openai.com/api/docs/pricing and …/guides/prompt-caching
  it.each<[string, string, Partial<Usage>, number]>([
    ['fresh input and output', 'gpt-6-sol', { inputTokens: 1000, outputTokens: 500 }, 2000 + 5000],
    [
      'read from the cache at a tenth, written to it at 1.25 times',
      'gpt-6-sol',
      { inputTokens: 10_000, cachedInputTokens: 4000, cacheWriteTokens: 2000, outputTokens: 1000 },
      4000 * 2 + 800 + 5000 + 10_000,
    ],
    [
      'reasoning within the output',
      'gpt-5',
      { inputTokens: 100, outputTokens: 1000, reasoningTokens: 900 },
      125 + 10_000,
    ],
    [
      'a prompt of 272,000 tokens',
      'gpt-6-sol',
      { inputTokens: 272_000, outputTokens: 1000 },
      544_000 + 10_000,
    ],
    [
      'a longer prompt: input doubles, output costs half as much again',
      'gpt-6-sol',
      { inputTokens: 300_000, cachedInputTokens: 100_000, outputTokens: 1000 },
      200_000 * 4 + 40_000 + 15_000,
    ],
    ['Flex: half', 'gpt-6-sol', { inputTokens: 1000, outputTokens: 500, serviceTier: 'flex' }, 1000 + 2500],
    [
      'Flex beyond the threshold: half of that',
      'gpt-6-sol',
      { inputTokens: 300_000, outputTokens: 1000, serviceTier: 'flex' },
      600_000 + 7500,
    ],
    [
      'Priority: twice',
      'gpt-6-sol',
      { inputTokens: 1000, outputTokens: 500, serviceTier: 'priority' },
      14_000,
    ],
    [
      'Flex with a cached rate of its own',
      'o4-mini',
      { inputTokens: 1000, cachedInputTokens: 400, outputTokens: 100, serviceTier: 'flex' },
      330 + 55.2 + 220,
    ],
    [
      'Batch, whose table has no cached rate',
      'gpt-4o',
      { inputTokens: 1000, cachedInputTokens: 400, outputTokens: 100, serviceTier: 'batch' },
      750 + 500 + 500,
    ],
  ])('OpenAI: %s', (_, model, part, microUsd) => {
    expect(billOf(usage(part), openai(model))).toBe(microUsd * 1000);
  });

  // https://platform.claude.com/docs/en/about-claude/pricing and …/build-with-claude/prompt-caching#pricing
  it.each<[string, string, Partial<Usage>, number]>([
    [
      'cache: a read at a tenth, five minutes at 1.25 times, an hour at twice the input',
      'claude-sonnet-4-5',
      {
        inputTokens: 8100,
        cachedInputTokens: 5000,
        cacheWriteTokens: 3000,
        hourCacheWriteTokens: 2000,
        outputTokens: 300,
      },
      300 + 1500 + 3750 + 12_000 + 4500,
    ],
    [
      'a read at a twentieth',
      'claude-opus-5-5',
      { inputTokens: 1000, cachedInputTokens: 900, outputTokens: 10 },
      400 + 180 + 200,
    ],
    [
      'a prompt of 100,000 tokens',
      'claude-haiku-5-5',
      { inputTokens: 100_000, outputTokens: 100 },
      10_000 + 50,
    ],
    ['one token more', 'claude-haiku-5-5', { inputTokens: 100_001, outputTokens: 100 }, 50_000.5 + 250],
    [
      'Batch: half, the cache too',
      'claude-opus-5-5',
      {
        inputTokens: 1000,
        cachedInputTokens: 500,
        cacheWriteTokens: 200,
        outputTokens: 100,
        serviceTier: 'batch',
      },
      600 + 50 + 500 + 1000,
    ],
  ])('Anthropic: %s', (_, model, part, microUsd) => {
    expect(billOf(usage(part), anthropic(model))).toBe(microUsd * 1000);
  });

  // https://ai.google.dev/gemini-api/docs/pricing
  it.each<[string, string, Partial<Usage>, number]>([
    [
      'thoughts within the output',
      'gemini-2.5-pro',
      { inputTokens: 1000, outputTokens: 600, reasoningTokens: 500 },
      1250 + 6000,
    ],
    [
      'a prompt over 200,000 tokens',
      'gemini-2.5-pro',
      { inputTokens: 200_001, outputTokens: 100 },
      500_002.5 + 1500,
    ],
    [
      'Batch: half, but not for the cache',
      'gemini-2.5-pro',
      { inputTokens: 10_000, cachedInputTokens: 4000, outputTokens: 1000, serviceTier: 'batch' },
      3750 + 500 + 5000,
    ],
    [
      'Batch: half, the cache too',
      'gemini-4-argon',
      { inputTokens: 10_000, cachedInputTokens: 4000, outputTokens: 1000, serviceTier: 'batch' },
      6000 + 200 + 5000,
    ],
  ])('Google: %s', (_, model, part, microUsd) => {
    expect(billOf(usage(part), google(model))).toBe(microUsd * 1000);
  });

  it('is unknown without a usage, without a price, and in a tier nobody told the price of', () => {
    const sol = openai('gpt-6-sol');
    expect(billOf(null, sol)).toBeNull();
    expect(billOf(usage({ inputTokens: 1 }), null)).toBeNull();
    expect(billOf(usage({ inputTokens: 1, serviceTier: 'scale' }), sol)).toBeNull();
    expect(billOf(usage({ inputTokens: 1, serviceTier: 'flex' }), google('gemini-3.5-flash'))).toBeNull();
  });

  it("takes a card's own price for whatever tier its user has", () => {
    expect(billOf(usage({ inputTokens: 1, serviceTier: 'priority' }), { input: 2, output: 10 })).toBe(2000);
  });
});
