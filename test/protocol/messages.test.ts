import fc from 'fast-check';
import { readExternalResult } from '../../src/protocol/planning';
import {
  findLimitsProblem,
  findRejectionProblem,
  HINT,
  MAX_CALLS,
  MAX_STEPS,
  MAX_WALL_CLOCK_MS,
} from '../../src/protocol/messages';
import { externalCard } from '../budget/cards';

const HUGE = 10 ** 15;
/** Greatest length of an error sentence; fits into an update's result and a log. */
const LONGEST_SENTENCE = 1000;

test.each([
  [{ wallClockMs: MAX_WALL_CLOCK_MS + 1 }, /wallClockMs in .* is 2073600001: .* 1 to 2073600000 \(24 days\)/],
  [{ calls: 1e9 }, /calls in the input of setLimits is 1000000000: .* from 1 to 200/],
  [{ steps: MAX_STEPS + 1 }, /steps in .* is 51: .* from 1 to 50/],
  [JSON.parse('{ "__proto__": 1 }') as unknown, /"__proto__" in .* must be left out; known are steps, depth/],
  [{ ['x'.repeat(1e6)]: 1 }, /"x+…" in .* must be left out/],
  [{ calls: 'x'.repeat(1e6) }, /calls in .* is "x+…/],
])('invalid limits are refused: %#', (change, sentence) => {
  const problem = findLimitsProblem(change) ?? '';
  expect(problem).toMatch(sentence);
  expect(problem.length).toBeLessThan(LONGEST_SENTENCE);
});

test('accepted limits never exceed what Temporal, a result and a timer can hold', () => {
  const amount = fc.oneof(fc.double(), fc.maxSafeInteger(), fc.constantFrom(0, 1, 50, 200, HUGE, -1, null));
  const names = ['steps', 'depth', 'calls', 'tokens', 'costUsd', 'wallClockMs'] as const;
  const most = new Map(
    Object.entries({ steps: 50, calls: MAX_CALLS, costUsd: 1e6, wallClockMs: MAX_WALL_CLOCK_MS }),
  );
  fc.assert(
    fc.property(fc.constantFrom(...names), amount, (name, value) => {
      if (findLimitsProblem({ [name]: value }) !== null || value === null) return;
      expect(value).toBeLessThanOrEqual(most.get(name) ?? Number.MAX_SAFE_INTEGER);
    }),
    { numRuns: 2000 },
  );
});

test('any message is answered with at most one sentence', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect((findLimitsProblem(value) ?? '').length).toBeLessThan(LONGEST_SENTENCE);
      expect((findRejectionProblem(value) ?? '').length).toBeLessThan(LONGEST_SENTENCE);
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ['2 KB', 'x'.repeat(2048), true],
  ['2 KB of characters that have three bytes', '語'.repeat(682), true],
  ['more', 'x'.repeat(2049), false],
  ['more bytes than that, if not characters', '語'.repeat(683), false],
])('a hint or reason is held to a limit of 2 KB: %s', (_, text, isAccepted) => {
  expect(HINT.isMet(text)).toBe(isAccepted);
  expect(findRejectionProblem({ reason: text }) === null).toBe(isAccepted);
});

test('token counts of a custom worker that are too large to add up are refused', () => {
  const answer = { text: 'Yes.', usage: { inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: 1 } };
  expect(() => readExternalResult(answer, externalCard('agent'))).toThrow(
    'usage.inputTokens must be a whole number from 0 to 1000000000',
  );
});
