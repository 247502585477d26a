import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { z } from 'zod';
import { checkShape } from '../../src/activities';
import { Account } from '../../src/budget/account';
import { estimatePlan } from '../../src/budget/estimate-plan';
import { conductorPromptBytes } from '../../src/budget/prompt-bytes';
import { worstCaseOf } from '../../src/budget/worst-case';
import { solveInputSchema } from '../../src/protocol/input';
import { keptOutputs, planContextOf } from '../../src/protocol/planning';
import { type ResolvedRun, runSchema } from '../../src/protocol/cards';
import { reasonOf } from '../../src/errors';
import { externalCard, modelCard, runOf } from '../budget/cards';
import { pathsIn, replaced } from '../support/mangled';

/** Greatest length of an error sentence; fits into a failure. */
const LONGEST_SENTENCE = 1000;

const parsed = (json: string): unknown => JSON.parse(json);

/** Returns the error of a workflow with this input, or null if the input is valid. */
function problemOf(input: unknown, schema: z.ZodType = solveInputSchema): string | null {
  try {
    checkShape(schema, input);
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

describe('the input of a solve', () => {
  const plan = { steps: [{ worker: 'a', subtask: 'Ask.', sees: [] }] };
  const ref = { ref: `sha256-${'0'.repeat(64)}`, bytes: 5000, preview: 'It' };
  const asking = (more: object): object => ({ question: 'Who?', ...more });
  const keeping = (...outputs: unknown[]): object => asking({ given: { plan, outputs } });

  test.each([
    ['a question', asking({})],
    ['a question in the store', { question: ref }],
    [
      'everything',
      {
        ...keeping(null),
        pool: { allow: ['a'], deny: [] },
        approval: 'all',
        priority: 5,
        tenant: 'x',
        seed: -1,
        rights: { models: ['worker/*'], limits: runOf([]).limits },
        conductor: { checkpoint: 'nightly/000001', examples: 'none' },
        run: runOf([modelCard('a')]),
        limits: { steps: 50, depth: null, calls: 200, tokens: null, costUsd: 1e6, wallClock: '5m' },
      },
    ],
    ['outputs that are kept, here and in the store', keeping(ref)],
  ])('takes %s', (_, input) => {
    expect(problemOf(input)).toBeNull();
  });

  test.each<readonly [what: string, input: unknown, sentence: RegExp]>([
    ['an unknown field', asking({ limit: {} }), /: limit is not a setting: remove or rename$/],
    ['a word of spaces', { question: ' ' }, /: question is " ": expected a text with at least a word/],
    ['no question', { limits: {} }, /: question is missing: expected a question, or messages in its place/],
    ['a long question', { question: 'x'.repeat(200_000) }, /: question is "x{59}…: expected .* 131072 bytes/],
    ['a question of half a byte', { question: { ...ref, bytes: 0.5 } }, /: question is /],
    [
      'no steps',
      asking({ limits: { steps: 0 } }),
      /: limits\.steps is 0: expected a whole number from 1 to 50$/,
    ],
    ['too many calls', asking({ limits: { calls: 201 } }), /: limits\.calls is 201: /],
    ['an endless duration', asking({ limits: { wallClock: '9'.repeat(101) } }), /: limits\.wallClock is /],
    ['an empty pool', asking({ pool: null }), /: pool is null: expected an object/],
    ['an own field of every object', asking({ pool: { constructor: [] } }), /: pool\.constructor is not a/],
    ['an endless name', asking({ ['x'.repeat(1e6)]: 1 }), /: x{60}… is not a setting/],
    ['more outputs than steps', keeping(null, null), /: given is .*: expected one output, or null, for each/],
    ['an output for the store', keeping('x'.repeat(5000)), /: given\.outputs\[0\] is .* 4096 bytes/],
    ['a text of negative length', keeping({ ...ref, bytes: -1 }), /: given\.outputs\[0\] is /],
    ['a text longer than any', keeping({ ...ref, bytes: 1e300 }), /: given\.outputs\[0\] is /],
    ['an endless preview', keeping({ ...ref, preview: 'x'.repeat(5000) }), /: given\.outputs\[0\] is /],
    [
      'a run with more calls than a result can list',
      asking({ run: { ...runOf([modelCard('a')]), limits: { ...runOf([]).limits, calls: 1e9 } } }),
      /: run\.limits\.calls is 1000000000: /,
    ],
  ])('refuses %s in a sentence that names the field', (_, input, sentence) => {
    const problem = problemOf(input) ?? '';
    expect(problem).toMatch(sentence);
    expect(problem.length).toBeLessThan(LONGEST_SENTENCE);
  });

  test('is answered with at most one sentence, whatever is sent', () => {
    const names = 'question pool limits given run plan outputs steps __proto__ ref'.split(' ');
    const { any } = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue(),
        fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(any, (value) => {
        expect((problemOf(parsed(JSON.stringify(value))) ?? '').length).toBeLessThan(LONGEST_SENTENCE);
      }),
      { numRuns: 2000 },
    );
  });

  test('is checked without a schema library in the sandbox, which every run would have to evaluate', () => {
    const bundle = process.env.TEST_WORKFLOW_BUNDLE ?? '';
    expect(readFileSync(bundle, 'utf8')).not.toMatch(/ZodError|\$ZodType/);
  });
});

test('every accepted run can be used in calculations', () => {
  const tiers = { flex: 0.5, priority: { input: 2, output: 4 } };
  const longPrompt = { over: 1000, input: 2, output: 3 };
  const price = { input: 1, output: 2, cachedInput: 0.1, cacheWrite: 1.25, longPrompt, tiers };
  const rich = runOf([modelCard('a', price), { ...externalCard('b'), price: { perCall: 1 } }]);
  let accepted = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...pathsIn(rich)),
      fc.oneof(fc.jsonValue(), fc.double(), fc.constantFrom(1e300, -1, 0.5, 1e15)),
      (path, value) => {
        const forged = parsed(JSON.stringify(replaced(rich, path, value))) as ResolvedRun;
        if (problemOf(forged, runSchema) !== null) return;
        accepted += 1;
        expect(() => {
          reckon(forged);
        }).not.toThrow();
      },
    ),
    { numRuns: 5000 },
  );
  expect(accepted).toBeGreaterThan(100);
});

/** Makes every calculation of a run that precedes its first model call. */
function reckon(run: ResolvedRun): void {
  const { conductor, workers } = run;
  const bytes = conductorPromptBytes({ question: 'Who?', repairs: [] }, run);
  const cases = [conductor, ...workers].map((card) => worstCaseOf(card, bytes, 100));
  const account = new Account(run.limits);
  for (const worst of cases) account.reserve(worst);
  const { workers: ids } = planContextOf(run, 0, true);
  const plan = { steps: ids.map((worker) => ({ worker, subtask: 'Say.', sees: [] })) };
  estimatePlan(plan, run, { question: 'Who?' });
}

const step = (worker: string, sees: number[] = []) => ({ worker, subtask: 'Say', sees });
const plan = { steps: [step('a'), step('b', [0]), step('c', [0, 1])] };
const given = { plan, outputs: ['one', 'two', null] };

test('a given plan keeps the outputs that came with it', () => {
  expect(keptOutputs({ given }, plan)).toEqual(['one', 'two', null]);
  expect(keptOutputs({}, plan)).toEqual([null, null, null]);
});

test.each([
  ['another worker', step('d'), [null, null]],
  ['another subtask', { ...step('a'), subtask: 'Sing' }, [null, null]],
  ['the same step', step('a'), ['one', 'two']],
])(
  'when a person edits the first step to %s, outputs of steps that see it are kept only with its own',
  (_, first, kept) => {
    expect(keptOutputs({ given }, { steps: [first, step('b', [0])] })).toEqual(kept);
  },
);

test('a step that now sees other steps, or belongs to another plan, is run again', () => {
  expect(keptOutputs({ given }, { steps: [step('a'), step('b')] })).toEqual(['one', null]);
  expect(keptOutputs({ given }, { steps: [step('x'), step('y')] })).toEqual([null, null]);
});
