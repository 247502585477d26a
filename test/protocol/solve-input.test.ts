import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { z } from 'zod';
import { findInputProblem } from '../../src/protocol/input';
import { MAX_CALLS, MAX_COST_USD, MAX_STEPS } from '../../src/protocol/messages';
import { solveInputSchema } from '../../src/protocol/solve';
import { EXAMPLE_SET_NAMES } from '../../src/plan/plan';
import { planSchema } from '../../src/plan/schema';

const word = fc.constantFrom(
  'question',
  'pool',
  'limits',
  'seed',
  'allow',
  'deny',
  'steps',
  'calls',
  'costUsd',
  'depth',
  'plan',
  'outputs',
  'ref',
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('Who?', '', ' ', '10m', null, true, 0, 1, 1000, 2.5, -1),
    fc.array(tie('any'), { maxLength: 2 }),
    fc.dictionary(word, tie('any'), { maxKeys: 3 }),
    fc.record({
      ref: fc.constant('sha256-0'),
      bytes: fc.constantFrom(5000, 0.5, 1e9, 'many'),
      preview: fc.string(),
    }),
  ),
})).any;

const ref = z.object({
  ref: z.string(),
  bytes: z
    .int()
    .min(0)
    .max(2 ** 25),
  preview: z.string().max(256),
});
const text = z.union([z.string().max(4096), ref]);

/** The rules once more, in another language. A parent is tested with the children of real runs. */
const schema = z.strictObject({
  question: text,
  pool: z
    .strictObject({ allow: z.array(z.string()).optional(), deny: z.array(z.string()).optional() })
    .optional(),
  limits: z
    .strictObject({
      steps: z.int().min(1).max(MAX_STEPS).optional(),
      depth: z.int().min(0).nullable().optional(),
      calls: z.int().min(1).max(MAX_CALLS).optional(),
      tokens: z.int().min(1).nullable().optional(),
      costUsd: z.number().min(0).max(MAX_COST_USD).nullable().optional(),
      wallClock: z.string().optional(),
      approval: z.string().optional(),
    })
    .optional(),
  conductor: z
    .strictObject({ checkpoint: z.string().optional(), examples: z.enum(EXAMPLE_SET_NAMES).optional() })
    .optional(),
  approval: z.enum(['plan', 'all']).optional(),
  priority: z.int().min(1).max(5).optional(),
  tenant: z.string().min(1).max(64).optional(),
  given: z
    .strictObject({ plan: planSchema, outputs: z.array(text.nullable()) })
    .refine(({ plan, outputs }) => plan.steps.length === outputs.length)
    .optional(),
  seed: z.int().optional(),
});

/** Mostly right, so that each rule is met alone. */
const nearlyInput = fc.record(
  {
    question: fc.oneof({ weight: 4, arbitrary: fc.constant('Who?') }, value),
    pool: fc.oneof(fc.constant({ allow: ['a'], deny: [] }), value),
    limits: fc.oneof(
      fc.constant({ steps: 2, wallClock: '5m' }),
      fc.record(
        { depth: value, calls: fc.oneof(fc.constantFrom(200, 201), value), costUsd: value, tokens: value },
        { requiredKeys: [] },
      ),
      value,
    ),
    conductor: fc.oneof(
      fc.record(
        { checkpoint: value, examples: fc.oneof(fc.constantFrom('none', 'all'), value) },
        { requiredKeys: [] },
      ),
      value,
    ),
    approval: fc.oneof(fc.constantFrom('plan', 'all', 'none'), value),
    priority: fc.oneof(fc.nat(6), value),
    tenant: fc.oneof(fc.string({ maxLength: 70 }), value),
    given: fc.oneof(
      fc.record({
        plan: fc.record({
          steps: fc.array(fc.record({ worker: fc.constantFrom('a', ''), subtask: value, sees: value })),
        }),
        outputs: fc.array(fc.oneof(fc.constant(null), fc.string(), value), { maxLength: 3 }),
      }),
      value,
    ),
    seed: fc.oneof(fc.integer(), value),
  },
  { requiredKeys: [] },
);

describe('the input of a solve', () => {
  test('is judged by hand as by a schema, an empty question apart, and by the exported one alike', () => {
    fc.assert(
      fc.property(fc.oneof(nearlyInput, value), (input) => {
        const { success, data } = schema.safeParse(input);
        const isBlank = typeof data?.question === 'string' && data.question.trim() === '';
        expect(findInputProblem(input) === null).toBe(success && !isBlank);
        expect(solveInputSchema.safeParse(input).success).toBe(success && !isBlank);
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    [undefined, /must be one object, .* is missing/],
    [[], /is \[\]: it must be one object/],
    [{ question: 'Who?', depth: 3 }, /no "depth": it knows question, pool, limits/],
    [{ question: ' ' }, /question .* at least a word/],
    [
      { question: 'Who?', limits: { steps: 0 } },
      /^limits\.steps .* is 0: it must be a whole number from 1 to 50/,
    ],
    [{ question: 'Who?', pool: null }, /^pool .* is null: it must be \{ allow\?, deny\? \}, or left out/],
    [{ question: null }, /^question .* must be a text/],
  ])('%j: a sentence that names the place', (input, sentence) => {
    expect(findInputProblem(input)).toMatch(sentence);
  });

  test('the exported schema says what is wrong in the same words', () => {
    const { error } = solveInputSchema.safeParse({ question: ' ' });
    expect(error?.issues.map(({ message }) => message)).toEqual([findInputProblem({ question: ' ' })]);
  });

  test('needs no schema library in the sandbox, which would evaluate it anew for every run', () => {
    const bundle = process.env.TEST_WORKFLOW_BUNDLE ?? '';
    expect(readFileSync(bundle, 'utf8')).not.toMatch(/ZodError|\$ZodType/);
  });
});
