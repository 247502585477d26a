import * as fc from 'fast-check';
import { billOf, nanoUsdOf } from '../../src/budget/nano-usd';
import { priceOf } from '../../src/config/cards';
import table from '../../src/config/prices.json';
import type { Usage } from '../../src';
import type { Price } from '../../src/protocol/cards';

/** Returns a usage with these input and output tokens, and further counts. */
function usage(inputTokens: number, outputTokens: number, part: Partial<Usage> = {}): Usage {
  return { inputTokens, outputTokens, cachedInputTokens: 0, reasoningTokens: 0, ...part };
}

const PRICE: Price = { input: 2, output: 10 };
const LONG_PROMPT = { over: 100, input: 4, output: 17 };

describe('nanoUsdOf', () => {
  it.each<[string, Usage, Price, number]>([
    ['a token at 2 USD per million', usage(1, 0), PRICE, 2000],
    ['input and output', usage(10, 5), PRICE, 70_000],
    [
      'cached input at its own rate',
      usage(10, 0, { cachedInputTokens: 4 }),
      { ...PRICE, cachedInput: 0.2 },
      12_800,
    ],
    [
      'cached and written input without rates',
      usage(10, 0, { cachedInputTokens: 4, cacheWriteTokens: 5 }),
      PRICE,
      20_000,
    ],
    [
      'more cached and written than there was',
      usage(10, 0, { cachedInputTokens: 8, cacheWriteTokens: 8, hourCacheWriteTokens: 8 }),
      { input: 1, output: 1, cachedInput: 0.1, cacheWrite: 1.25, hourCacheWrite: 2 },
      4800,
    ],
    ['reasoning, which is output', usage(0, 5, { reasoningTokens: 4 }), PRICE, 50_000],
    ['half a nano-USD, up', usage(1, 0), { input: 0.0005, output: 0 }, 1],
    ['less than half, down', usage(1, 0), { input: 0.000499, output: 0 }, 0],
    ['a rate no binary fraction holds', usage(1_000_000, 0), { input: 0.1, output: 0 }, 100_000_000],
    ['a prompt at the threshold', usage(100, 0), { ...PRICE, longPrompt: LONG_PROMPT }, 200_000],
    ['a prompt beyond the threshold, whole', usage(101, 1), { ...PRICE, longPrompt: LONG_PROMPT }, 421_000],
  ])('%s', (_, used, price, expected) => {
    expect(nanoUsdOf(used, price)).toBe(expected);
  });

  const micros = fc.nat({ max: 200_000_000 });

  it('is within half a nano-USD of the exact sum', () => {
    const tokens = fc.nat({ max: 2_000_000 });
    const five = (each: fc.Arbitrary<number>) => fc.tuple(each, each, each, each, each);
    fc.assert(
      fc.property(five(tokens), five(micros), (counts, rates) => {
        const [fresh, cached, written, hour, outputTokens] = counts;
        const usd = rates.map((rate) => rate / 1e6) as typeof rates;
        const [input, cachedInput, cacheWrite, hourCacheWrite, output] = usd;
        const used = usage(fresh + cached + written + hour, outputTokens, {
          cachedInputTokens: cached,
          cacheWriteTokens: written + hour,
          hourCacheWriteTokens: hour,
        });
        const price = { input, cachedInput, cacheWrite, hourCacheWrite, output };
        const pico = counts.reduce((sum, count, part) => sum + BigInt(count) * BigInt(rates[part] ?? 0), 0n);
        const error = BigInt(nanoUsdOf(used, price)) * 1000n - pico;
        return -500n < error && error <= 500n;
      }),
    );
  });

  it('every bundled price has its rates in the order that bounds rely on', () => {
    const bundled: Readonly<Record<string, Readonly<Record<string, readonly { price: Price }[]>>>> =
      table.endpoints;
    const all = Object.values(bundled).flatMap((models) => Object.values(models).flat());
    expect(all.length).toBeGreaterThan(40);
    for (const { price } of all) {
      const { longPrompt = price } = price;
      for (const rates of [price, longPrompt]) {
        const { input, cachedInput = input, cacheWrite = input, hourCacheWrite = cacheWrite } = rates;
        const ascending = [cachedInput, input, cacheWrite, hourCacheWrite];
        expect(ascending).toEqual([...ascending].sort((a, b) => a - b));
      }
      expect(longPrompt.input).toBeGreaterThanOrEqual(price.input);
      expect(longPrompt.output).toBeGreaterThanOrEqual(price.output);
    }
  });
});

describe('billOf', () => {
  const NOVEMBER = new Date('2026-11-21');
  const usual = { timeout: '10m', capabilities: {}, describe: 'names' } as const;
  const priceAt = (provider: 'openai' | 'anthropic' | 'google', model: string): Price | null =>
    priceOf({ ...usual, provider, model } as Parameters<typeof priceOf>[0], NOVEMBER).price;

  // Rates and rules from the vendors' pages of November 2026; the sums were calculated by hand, in micro-USD.
  // https://developers.openai.com/api/docs/pricing and …/guides/prompt-caching
  it.each<[string, string, Usage, number]>([
    ['fresh input and output', 'gpt-6-sol', usage(1000, 500), 2000 + 5000],
    [
      'read from the cache at a tenth, written to it at 1.25 times',
      'gpt-6-sol',
      usage(10_000, 1000, { cachedInputTokens: 4000, cacheWriteTokens: 2000 }),
      4000 * 2 + 800 + 5000 + 10_000,
    ],
    ['reasoning within the output', 'gpt-5', usage(100, 1000, { reasoningTokens: 900 }), 125 + 10_000],
    ['a prompt of 272,000 tokens', 'gpt-6-sol', usage(272_000, 1000), 544_000 + 10_000],
    [
      'a longer prompt: input doubles, output costs half as much again',
      'gpt-6-sol',
      usage(300_000, 1000, { cachedInputTokens: 100_000 }),
      200_000 * 4 + 40_000 + 15_000,
    ],
    ['Flex: half', 'gpt-6-sol', usage(1000, 500, { serviceTier: 'flex' }), 1000 + 2500],
    [
      'Flex beyond the threshold: half of that',
      'gpt-6-sol',
      usage(300_000, 1000, { serviceTier: 'flex' }),
      600_000 + 7500,
    ],
    ['Priority: twice', 'gpt-6-sol', usage(1000, 500, { serviceTier: 'priority' }), 14_000],
    [
      'Flex with a cached rate of its own',
      'o4-mini',
      usage(1000, 100, { cachedInputTokens: 400, serviceTier: 'flex' }),
      330 + 55.2 + 220,
    ],
    [
      'Batch, whose table has no cached rate',
      'gpt-4o',
      usage(1000, 100, { cachedInputTokens: 400, serviceTier: 'batch' }),
      750 + 500 + 500,
    ],
  ])('OpenAI: %s', (_, model, used, microUsd) => {
    expect(billOf(used, priceAt('openai', model))).toBe(microUsd * 1000);
  });

  // https://platform.claude.com/docs/en/about-claude/pricing and …/build-with-claude/prompt-caching#pricing
  it.each<[string, string, Usage, number]>([
    [
      'cache: a read at a tenth, five minutes at 1.25 times, an hour at twice the input',
      'claude-sonnet-4-5',
      usage(8100, 300, { cachedInputTokens: 5000, cacheWriteTokens: 3000, hourCacheWriteTokens: 2000 }),
      300 + 1500 + 3750 + 12_000 + 4500,
    ],
    [
      'a read at a twentieth',
      'claude-opus-5-5',
      usage(1000, 10, { cachedInputTokens: 900 }),
      400 + 180 + 200,
    ],
    ['a prompt of 100,000 tokens', 'claude-haiku-5-5', usage(100_000, 100), 10_000 + 50],
    ['one token more', 'claude-haiku-5-5', usage(100_001, 100), 50_000.5 + 250],
    [
      'Batch: half, the cache too',
      'claude-opus-5-5',
      usage(1000, 100, { cachedInputTokens: 500, cacheWriteTokens: 200, serviceTier: 'batch' }),
      600 + 50 + 500 + 1000,
    ],
  ])('Anthropic: %s', (_, model, used, microUsd) => {
    expect(billOf(used, priceAt('anthropic', model))).toBe(microUsd * 1000);
  });

  // https://ai.google.dev/gemini-api/docs/pricing
  it.each<[string, string, Usage, number]>([
    ['thoughts within the output', 'gemini-2.5-pro', usage(1000, 600, { reasoningTokens: 500 }), 1250 + 6000],
    ['a prompt over 200,000 tokens', 'gemini-2.5-pro', usage(200_001, 100), 500_002.5 + 1500],
    [
      'Batch: half, but not for the cache',
      'gemini-2.5-pro',
      usage(10_000, 1000, { cachedInputTokens: 4000, serviceTier: 'batch' }),
      3750 + 500 + 5000,
    ],
    [
      'Batch: half, the cache too',
      'gemini-4-argon',
      usage(10_000, 1000, { cachedInputTokens: 4000, serviceTier: 'batch' }),
      6000 + 200 + 5000,
    ],
  ])('Google: %s', (_, model, used, microUsd) => {
    expect(billOf(used, priceAt('google', model))).toBe(microUsd * 1000);
  });

  it('is unknown without a usage, without a price, and in a tier whose price is unknown', () => {
    const sol = priceAt('openai', 'gpt-6-sol');
    expect(billOf(null, sol)).toBeNull();
    expect(billOf(usage(1, 0), null)).toBeNull();
    expect(billOf(usage(1, 0, { serviceTier: 'scale' }), sol)).toBeNull();
    expect(billOf(usage(1, 0, { serviceTier: 'constructor' }), sol)).toBeNull();
    expect(billOf(usage(1, 0, { serviceTier: 'flex' }), priceAt('google', 'gemini-3.5-flash'))).toBeNull();
  });

  it("applies a card's own price to every service tier", () => {
    expect(billOf(usage(1, 0, { serviceTier: 'priority' }), PRICE)).toBe(2000);
  });
});
