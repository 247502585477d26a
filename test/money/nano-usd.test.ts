import * as fc from 'fast-check';
import { nanoUsdOf } from '../../src/money/nano-usd';
import type { Price } from '../../src/pool/card';
import type { Usage } from '../../src/protocol/call';

const usage = (part: Partial<Usage>): Usage => ({
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  ...part,
});

const tokens = fc.nat({ max: 2_000_000 });
const micros = fc.nat({ max: 200_000_000 });
const usages: fc.Arbitrary<Usage> = fc
  .record({ inputTokens: tokens, outputTokens: tokens, cachedInputTokens: tokens })
  .map((part) => usage({ ...part, cachedInputTokens: Math.min(part.cachedInputTokens, part.inputTokens) }));

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
      'cached input without a rate',
      { inputTokens: 10, cachedInputTokens: 4 },
      { input: 2, output: 10 },
      20_000,
    ],
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

  it('is the exact sum, off by at most half a nano-USD', () => {
    fc.assert(
      fc.property(usages, micros, micros, micros, (used, input, output, cachedInput) => {
        const price = { input: input / 1e6, output: output / 1e6, cachedInput: cachedInput / 1e6 };
        const fresh = BigInt(used.inputTokens - used.cachedInputTokens);
        const pico =
          fresh * BigInt(input) +
          BigInt(used.cachedInputTokens) * BigInt(cachedInput) +
          BigInt(used.outputTokens) * BigInt(output);
        const error = BigInt(nanoUsdOf(used, price)) * 1000n - pico;
        return -500n < error && error <= 500n;
      }),
    );
  });
});
