import fc from 'fast-check';
import { nanoUsdOf } from '../../src/budget/nano-usd';
import { estimatePlan } from '../../src/budget/estimate-plan';
import { workerPromptBytes } from '../../src/budget/prompt-bytes';
import { worstCaseOf } from '../../src/budget/worst-case';
import type { Price } from '../../src/protocol/cards';
import { externalCard, modelCard, runOf } from './cards';

test('assumes a token for each byte of the prompt, some that a server adds, and the longest output', () => {
  const { tokens, nanoUsd } = worstCaseOf(modelCard('w'), 1000, 500);
  expect(tokens).toBe(1000 + 256 + 500);
  expect(nanoUsd).toBe((1000 + 256) * 1000 + 500 * 2000);
});

test.each([
  ['a model without a price: the cost is unknown, the tokens are not', modelCard('w', null), 1756, null],
  ['a model that is free', modelCard('w', { input: 0, output: 0 }), 1756, 0],
  ["an activity of the user's: what it spends is its owner's affair", externalCard('w'), 0, null],
])('%s', (_, card, tokens, nanoUsd) => {
  expect(worstCaseOf(card, 1000, 500)).toMatchObject({ tokens, nanoUsd });
});

test('no bill for a prompt and output exceeds the worst case, whatever is read from or written to a cache', () => {
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

const step = (worker: string, sees: number[] = []): { worker: string; subtask: string; sees: number[] } => ({
  worker,
  subtask: 'Say',
  sees,
});

test('an estimate counts every step of a plan once, at its worst case', () => {
  const card = modelCard('w');
  const request = { question: 'Why?', subtask: 'Say', sees: [], round: 0, step: 0, worker: card };
  const worst = worstCaseOf(card, workerPromptBytes(request), card.maxOutputTokens);
  const estimate = estimatePlan({ steps: [step('w'), step('w')] }, runOf([card]), { question: 'Why?' });
  expect(estimate).toEqual({
    calls: 2,
    tokens: 2 * worst.tokens,
    nanoUsd: 2 * (worst.nanoUsd ?? 0),
  });
});

test('a step that sees another reads as many tokens as the other may write', () => {
  const tokens = (maxOutputTokens: number): number => {
    const run = runOf([modelCard('reader'), { ...modelCard('writer'), maxOutputTokens }]);
    return estimatePlan({ steps: [step('writer'), step('reader', [0])] }, run, { question: 'Why?' }).tokens;
  };
  expect(tokens(1100) - tokens(100)).toBe(2000);
});

test('a worker without a price makes the cost unknown', () => {
  const run = runOf([modelCard('w'), modelCard('new', null), externalCard('own')]);
  for (const unpriced of ['new', 'own']) {
    const plan = { steps: [step('w'), step(unpriced)] };
    expect(estimatePlan(plan, run, { question: 'Why?' })).toMatchObject({ calls: 2, nanoUsd: null });
  }
});

test("the Conductor's own steps count only by their number", () => {
  const run = runOf([modelCard('w')]);
  const without = estimatePlan({ steps: [step('w')] }, run, { question: 'Why?' });
  const estimate = estimatePlan({ steps: [step('w'), step('conductor')] }, run, { question: 'Why?' });
  expect(estimate).toEqual({ ...without, calls: 2, ownSteps: 1 });
});

test('the question and the background count for each step, even if they are stored', () => {
  const run = runOf([modelCard('w')]);
  const stored = { ref: 'r', bytes: 10_000, preview: '' };
  const plan = { steps: [step('w'), step('w')] };
  const little = estimatePlan(plan, run, { question: '' }).tokens;
  expect(estimatePlan(plan, run, { question: stored }).tokens).toBeGreaterThanOrEqual(little + 20_000);
  expect(
    estimatePlan(plan, run, { question: '', background: [{ subtask: null, output: stored }] }).tokens,
  ).toBeGreaterThanOrEqual(little + 20_000);
});

test('a step whose output is kept costs nothing, and is read at its real length', () => {
  const run = runOf([{ ...modelCard('w'), maxOutputTokens: 4096 }]);
  const plan = { steps: [step('w'), step('w'), step('w', [0, 1])] };
  const request = { question: 'Why?', subtask: 'Say', worker: modelCard('w') };
  const sees = ['It is.', 'So.'].map((output) => ({ step: 0, worker: 'w', subtask: 'Say', output }));
  expect(estimatePlan(plan, run, { question: 'Why?', kept: ['It is.', 'So.', null] })).toMatchObject({
    calls: 1,
    tokens: worstCaseOf(request.worker, workerPromptBytes({ ...request, sees }), 4096).tokens,
  });
  const own = { steps: [step('conductor'), step('w', [0])] };
  expect(estimatePlan(own, run, { question: 'Why?', kept: ['Yes.', null] })).not.toHaveProperty('ownSteps');
});
