import fc from 'fast-check';
import { Account } from '../../src/budget/account';
import { conductorPromptBytes, estimatePlan, worstCaseOf } from '../../src/budget/worst-case';
import type { Parent } from '../../src/protocol/activity-contract';
import type { ExternalCard } from '../../src/protocol/cards';
import { readExternalResult } from '../../src/protocol/external-worker';
import { findInputProblem } from '../../src/protocol/input';
import {
  findLimitsProblem,
  findRejectionProblem,
  HINT,
  isSpending,
  MAX_CALLS,
  MAX_HINTS,
  MAX_STEPS,
  MAX_WALL_CLOCK_MS,
} from '../../src/protocol/messages';
import { planContextOf } from '../../src/protocol/run';
import { externalCard, modelCard, runOf } from '../budget/cards';
import { pathsIn, replaced } from '../support/mangled';

const DAY_MS = 24 * 60 * 60 * 1000;
const HUGE = 10 ** 15;
/** A sentence that a failure, the answer to an update or a log can hold. */
const LONGEST_SENTENCE = 1000;

const parsed = (json: string): unknown => JSON.parse(json);

describe('what a message may ask of a run', () => {
  test.each([
    [
      { wallClockMs: MAX_WALL_CLOCK_MS + 1 },
      /wallClockMs is 2073600001: .* from 1 to 2073600000 \(24 days\)/,
    ],
    [{ wallClockMs: HUGE }, /wallClockMs is 1000000000000000/],
    [{ calls: 1e9 }, /calls is 1000000000: .* from 1 to 200/],
    [{ steps: MAX_STEPS + 1 }, /steps is 51: .* from 1 to 50/],
    [parsed('{ "__proto__": 1 }'), /there is no limit "__proto__"/],
    [{ ['x'.repeat(1e6)]: 1 }, /there is no limit "x+…"/],
    [{ calls: 'x'.repeat(1e6) }, /calls is "x+…/],
  ])('limits: refused %#', (change, sentence) => {
    const problem = findLimitsProblem(change) ?? '';
    expect(problem).toMatch(sentence);
    expect(problem.length).toBeLessThan(LONGEST_SENTENCE);
  });

  test('any limits that are accepted are within what Temporal, a result and a timer can hold', () => {
    const amount = fc.oneof(fc.double(), fc.maxSafeInteger(), fc.constantFrom(0, 1, 50, 200, HUGE, -1, null));
    const names = ['steps', 'depth', 'calls', 'tokens', 'costUsd', 'wallClockMs'] as const;
    fc.assert(
      fc.property(fc.constantFrom(...names), amount, (name, value) => {
        if (findLimitsProblem({ [name]: value }) !== null || value === null) return;
        const most = new Map(
          Object.entries({ steps: 50, calls: MAX_CALLS, costUsd: 1e6, wallClockMs: 24 * DAY_MS }),
        );
        expect(value).toBeLessThanOrEqual(most.get(name) ?? Number.MAX_SAFE_INTEGER);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['calls without number from a parent', { calls: 1e9, tokens: null, nanoUsd: null }, false],
    ['as many as a run can have', { calls: MAX_CALLS, tokens: null, nanoUsd: null }, true],
  ])('spending: %s', (_, limits, isAccepted) => {
    expect(isSpending(limits)).toBe(isAccepted);
  });

  test.each([
    ['2 KB', 'x'.repeat(2048), true],
    ['2 KB of characters that have three bytes', '語'.repeat(682), true],
    ['more', 'x'.repeat(2049), false],
    ['more bytes than that, if not characters', '語'.repeat(683), false],
  ])('a hint and a reason of %s', (_, text, isAccepted) => {
    expect(HINT.isMet(text)).toBe(isAccepted);
    expect(findRejectionProblem({ reason: text }) === null).toBe(isAccepted);
  });
});

describe('what an input may ask of a run', () => {
  const plan = { steps: [{ worker: 'a', subtask: 'Ask.', sees: [] }] };
  const ref = { ref: `sha256-${'0'.repeat(64)}`, bytes: 5000, preview: 'It' };
  const given = (output: unknown): unknown => ({ question: 'Who?', given: { plan, outputs: [output] } });

  test.each([
    ['a number of bytes that is no whole one', given({ ...ref, bytes: 0.5 })],
    ['a negative number of bytes', given({ ...ref, bytes: -1 })],
    ['more bytes than the store keeps', given({ ...ref, bytes: 1e300 })],
    ['a preview longer than a text', given({ ...ref, preview: 'x'.repeat(5000) })],
    ['a reference longer than any', given({ ...ref, ref: 'x'.repeat(5000) })],
    ['a kept output that belongs in the store', given('x'.repeat(5000))],
    ['more kept outputs than steps', { question: 'Who?', given: { plan, outputs: [null, null] } }],
    ['fewer kept outputs than steps', { question: 'Who?', given: { plan, outputs: [] } }],
    ['a question that belongs in the store', { question: 'x'.repeat(200_000) }],
    ['a question of half a byte', { question: { ...ref, bytes: 0.5 } }],
    ['a field that every object has', { question: 'Who?', pool: { constructor: [] } }],
    ['the field that no object has', parsed('{ "question": "Who?", "pool": { "__proto__": [] } }')],
    ['a limit that every object has', { question: 'Who?', limits: { toString: 1 } }],
    ['a field with an endless name', { question: 'Who?', ['x'.repeat(1e6)]: 1 }],
    ['too many steps', { question: 'Who?', limits: { steps: 51 } }],
    ['an endless duration', { question: 'Who?', limits: { wallClock: '9'.repeat(1000) } }],
  ])('%s is refused in a sentence', (_, input) => {
    const problem = findInputProblem(input) ?? '';
    expect(problem).toMatch(/the input of conductorSolve (is .*: it must be|has no)/s);
    expect(problem.length).toBeLessThan(LONGEST_SENTENCE);
  });

  const run = runOf([modelCard('a')]);
  const parent = { rootId: 'root', depth: 1, round: 0, run, background: [], hints: ['Mind this.'] };
  const withLimits = (limits: object): object => ({
    ...parent,
    run: { ...run, limits: { ...run.limits, ...limits } },
  });

  test('what a solve passes to a child is accepted', () => {
    expect(findInputProblem({ question: 'Who?', parent })).toBeNull();
  });

  test.each([
    ['calls', withLimits({ calls: 1e9 })],
    ['a wall clock', withLimits({ wallClockMs: HUGE })],
    ['a time for approval', withLimits({ approvalMs: HUGE })],
    ['tokens that are no whole number', withLimits({ tokens: 0.5 })],
    ['a cost that is no whole number', withLimits({ nanoUsd: 0.5 })],
    ['no limit on steps', withLimits({ steps: undefined })],
    ['a heartbeat', { ...parent, run: { ...run, heartbeatMs: HUGE } }],
    ['the time of a call', { ...parent, run: { ...run, workers: [{ ...modelCard('a'), timeoutMs: HUGE }] } }],
    [
      'the output of a call',
      { ...parent, run: { ...run, workers: [{ ...modelCard('a'), maxOutputTokens: 0.5 }] } },
    ],
    ['hints', { ...parent, hints: Array.from({ length: MAX_HINTS + 1 }, () => 'Mind this.') }],
    ['a text that was given', { ...parent, background: [{ subtask: null, output: { ...ref, bytes: 0.5 } }] }],
  ])('%s without measure, from a parent: refused', (_, forged) => {
    expect(findInputProblem({ question: 'Who?', parent: forged })).toMatch(/^parent[.\w]* in the input/);
  });

  test.each([
    ['a price that is none', { ...modelCard('a'), price: { input: 'free', output: 1 } }],
    ['a price beyond all measure', modelCard('a', { input: 1e300, output: 1 })],
    ['a factor that is none', modelCard('a', { input: 1, output: 1, tiers: { flex: -1 } })],
    ['no capabilities', { ...modelCard('a'), capabilities: undefined }],
    ['an unknown vendor', { ...modelCard('a'), provider: 'file' }],
    ['fallbacks that are no ids', { ...modelCard('a'), fallback: [1] }],
    ['an own worker without a queue', { ...externalCard('a'), taskQueue: undefined }],
  ])('a card with %s, from a parent: refused', (_, worker) => {
    const forged = { ...parent, run: { ...run, workers: [worker] } };
    expect(findInputProblem({ question: 'Who?', parent: forged })).toMatch(/^parent[.\w]* in the input/);
  });

  test('whatever is accepted from a parent can be calculated with', () => {
    const tiers = { flex: 0.5, priority: { input: 2, output: 4 } };
    const longPrompt = { over: 1000, input: 2, output: 3 };
    const price = { input: 1, output: 2, cachedInput: 0.1, cacheWrite: 1.25, longPrompt, tiers };
    const plan = { steps: [{ worker: 'a', subtask: 'Say.', sees: [] }] };
    const review = { plan, answer: 'Yes.' };
    const rich = {
      ...parent,
      ...{ review, step: 0, background: [{ subtask: 'Say.', output: ref }] },
      run: runOf([modelCard('a', price), externalCard('b')]),
    };
    const anywhere = fc.constantFrom(...pathsIn(rich));
    fc.assert(
      fc.property(anywhere, fc.oneof(fc.jsonValue(), fc.double()), (path, value) => {
        const forged = parsed(JSON.stringify(replaced(rich, path, value))) as Parent;
        if (findInputProblem({ question: 'Who?', parent: forged }) !== null) return;
        expect(() => {
          reckon(forged);
        }).not.toThrow();
      }),
      { numRuns: 5000 },
    );
  });

  test('nothing that can be sent makes the check throw, or say more than a sentence', () => {
    const names = [
      'question',
      'pool',
      'limits',
      'given',
      'parent',
      'plan',
      'outputs',
      'run',
      'steps',
      '__proto__',
      'ref',
    ];
    const { any } = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue(),
        fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(any, (value) => {
        const sent = parsed(JSON.stringify(value));
        expect((findInputProblem(sent) ?? '').length).toBeLessThan(LONGEST_SENTENCE);
        expect((findLimitsProblem(sent) ?? '').length).toBeLessThan(LONGEST_SENTENCE);
        expect((findRejectionProblem(sent) ?? '').length).toBeLessThan(LONGEST_SENTENCE);
      }),
      { numRuns: 3000 },
    );
  });
});

test('counts of an own worker that no result could sum up are refused', () => {
  const card: ExternalCard = {
    ...{ kind: 'activity', id: 'agent', type: 'research', taskQueue: 'agents' },
    ...{ timeoutMs: 1000, notes: null, fallback: [] },
  };
  const answer = { text: 'Yes.', usage: { inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: 1 } };
  expect(() => readExternalResult(answer, card)).toThrow(
    'usage.inputTokens must be a whole number from 0 to 1000000000',
  );
});

/** Everything that a run calculates from what its parent gave before it asks any model. */
function reckon({ run, review, background, hints, round }: Parent): void {
  const { conductor, workers } = run;
  const request = { question: 'Who?', repairs: [], background, review, hints };
  const bytes = conductorPromptBytes(request, run);
  const cases = [conductor, ...workers].map((card) => worstCaseOf(card, bytes, 100));
  const account = new Account(run.limits);
  for (const [index, worst] of cases.entries()) account.reserve(String(index), worst);
  const { workers: ids } = planContextOf(run, round, true);
  const plan = { steps: ids.map((worker) => ({ worker, subtask: 'Say.', sees: [] })) };
  estimatePlan(plan, run, { question: 'Who?', background });
}
