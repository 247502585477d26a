import fc from 'fast-check';
import { nanoUsdOf } from '../../src/budget/nano-usd';
import { worstCaseOf } from '../../src/budget/worst-case';
import type { Price } from '../../src/protocol/cards';
import { externalCard, modelCard } from './cards';

test('each byte of the prompt a token, some that a server adds, and the longest output', () => {
  const { tokens, nanoUsd } = worstCaseOf(modelCard('w'), 1000, 500);
  expect(tokens).toBe(1000 + 256 + 500);
  expect(nanoUsd).toBe((1000 + 256) * 1000 + 500 * 2000);
});

test('without a price the cost is unknown, and the tokens are not', () => {
  expect(worstCaseOf(modelCard('w', null), 1000, 500)).toMatchObject({ tokens: 1756, nanoUsd: null });
});

test('a model that is free costs nothing', () => {
  expect(worstCaseOf(modelCard('w', { input: 0, output: 0 }), 1000, 500).nanoUsd).toBe(0);
});

test("what an activity of the user's spends is its owner's affair", () => {
  expect(worstCaseOf(externalCard('w'), 1000, 500)).toEqual({ tokens: 0, nanoUsd: null });
});

test('no bill for this prompt and output is higher, however much of the input is cached or written to a cache', () => {
  const rate = fc.nat({ max: 50 });
  const price: fc.Arbitrary<Price> = fc.record(
    { input: rate, output: rate, cacheWrite: rate },
    { requiredKeys: ['input', 'output'] },
  );
  const part = fc.integer({ min: 0, max: 4 }).map((quarters) => quarters / 4);
  fc.assert(
    fc.property(
      price,
      fc.nat(300_000),
      fc.nat(10_000),
      part,
      part,
      part,
      (rates, bytes, output, used, read, written) => {
        const withLong = { ...rates, longPrompt: { ...doubled(rates), over: 200_000 } };
        const inputTokens = Math.floor(used * bytes);
        const cachedInputTokens = Math.floor(read * inputTokens);
        const usage = {
          inputTokens,
          outputTokens: output,
          cachedInputTokens,
          cacheWriteTokens: Math.floor(written * (inputTokens - cachedInputTokens)),
          reasoningTokens: 0,
        };
        const worst = worstCaseOf(modelCard('w', withLong), bytes, output);
        expect(nanoUsdOf(usage, withLong)).toBeLessThanOrEqual(worst.nanoUsd ?? 0);
      },
    ),
  );
});

function doubled({ input, output, cacheWrite = input }: Price): Price {
  return { input: 2 * input, output: 2 * output, cacheWrite: 2 * cacheWrite };
}
