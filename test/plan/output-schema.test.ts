import fc from 'fast-check';
import { z } from 'zod';
import { planOutputSchema } from '../../src/plan/render';
import { parsePlan } from '../../src/plan/parse';
import { CONTEXT } from './replies';

/** Any output that the grammar of the schema allows. */
const outputs = fc.record({
  reasoning: fc.string({ unit: 'grapheme', maxLength: 200 }),
  steps: fc.array(
    fc.record({
      worker: fc.nat(CONTEXT.workers.length - 1),
      subtask: fc.string({ unit: 'grapheme', maxLength: 60 }),
      sees: fc.constantFrom('none', 'all'),
    }),
    { minLength: 1, maxLength: CONTEXT.maxSteps },
  ),
});

test('whatever the grammar allows is a valid plan', () => {
  const grammar = z.fromJSONSchema(planOutputSchema(CONTEXT, 'grammar').schema);
  fc.assert(
    fc.property(outputs, (output) => {
      expect(grammar.parse(output)).toEqual(output);
      const { steps } = parsePlan(JSON.stringify(output), CONTEXT);
      expect(steps.map(({ worker }) => CONTEXT.workers.indexOf(worker))).toEqual(
        output.steps.map((step) => step.worker),
      );
    }),
  );
});

test('the grammar bounds what a model can write', () => {
  const grammar = z.fromJSONSchema(planOutputSchema(CONTEXT, 'grammar').schema);
  const step = { worker: 0, subtask: 'x', sees: 'none' };
  const allowed = (steps: unknown) => grammar.safeParse({ reasoning: '', steps }).success;
  expect(allowed([step])).toBe(true);
  expect(allowed([])).toBe(false);
  expect(allowed(Array(6).fill(step))).toBe(false);
  expect(allowed([{ ...step, worker: 4 }])).toBe(false);
  expect(allowed([{ ...step, subtask: 'x'.repeat(401) }])).toBe(false);
});

test('hosted APIs get no bounds that their strict modes refuse, and every field is required', () => {
  const { schema } = planOutputSchema(CONTEXT, 'vendor');
  expect(JSON.stringify(schema)).not.toMatch(/max|prefixItems|oneOf|pattern|format/);
  expect(schema).toMatchObject({
    required: ['reasoning', 'steps'],
    additionalProperties: false,
    properties: {
      steps: { minItems: 1, items: { required: ['worker', 'subtask', 'sees'], additionalProperties: false } },
    },
  });
});

test('a later round may have no steps', () => {
  const { schema } = planOutputSchema({ ...CONTEXT, round: 1 }, 'grammar');
  expect(z.fromJSONSchema(schema).safeParse({ reasoning: '', steps: [] }).success).toBe(true);
});
