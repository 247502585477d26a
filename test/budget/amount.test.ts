import { describeLimit } from '../../src/budget/amount';

test.each([
  [
    { limit: 'cost', needed: 81_234_567, left: 20_000_000, mayFitLater: false },
    'the next call may come to $0.0813, and limits.costUsd leaves $0.0200; raise limits.costUsd (--max-cost), or lower maxOutputTokens of its worker',
  ],
  [
    { limit: 'cost', needed: 1_500_000_001, left: 1_500_000_000, mayFitLater: true },
    'the next call may come to $1.51, and limits.costUsd leaves $1.50 until calls under way give back what they do not use; raise limits.costUsd (--max-cost), or lower maxOutputTokens of its worker',
  ],
  [
    { limit: 'tokens', needed: 8240, left: 2000, mayFitLater: false },
    'the next call may come to 8,240 tokens, and limits.tokens leaves 2,000 tokens; raise limits.tokens, or lower maxOutputTokens of its worker',
  ],
  [
    { limit: 'calls', needed: 1, left: 0, mayFitLater: false },
    'the next call may come to 1 request, and limits.calls leaves 0 requests; raise limits.calls',
  ],
] as const)('says what is needed, what is left, and what to do: %j', (refusal, sentence) => {
  expect(describeLimit(refusal)).toBe(sentence);
});
