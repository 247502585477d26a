import fc from 'fast-check';
import { z } from 'zod';
import { parsePlan } from '../../src/plan/parse';
import type { Plan } from '../../src';
import { planOutputSchema, renderPlan, renderPlanAsJson } from '../../src/plan/render';
import { PIECES } from './outcome';
import { CONTEXT } from './replies';

const nasty = fc.oneof(
  fc.string({ unit: fc.constantFrom(...PIECES), maxLength: 40 }),
  fc.string({ unit: 'binary' }),
);

/** Any valid plan for the pool. */
const plans: fc.Arbitrary<Plan> = fc
  .array(
    fc.record({ worker: fc.constantFrom(...CONTEXT.workers), subtask: nasty, sight: fc.array(fc.boolean()) }),
    { minLength: 1, maxLength: CONTEXT.maxSteps },
  )
  .map((steps) => ({
    steps: steps.map(({ worker, subtask, sight }, index) => ({
      worker,
      subtask,
      sees: sight.slice(0, index).flatMap((seen, earlier) => (seen ? [earlier] : [])),
    })),
  }));

test('parse reads back what render writes, whatever the subtasks hold', () => {
  fc.assert(
    fc.property(plans, (plan) => {
      expect(parsePlan(renderPlan(plan, CONTEXT.workers), CONTEXT)).toEqual(plan);
    }),
    { numRuns: 2000 },
  );
});

test('parse reads back a plan surrounded by prose and fences', () => {
  fc.assert(
    fc.property(plans, (plan) => {
      const reply = `Let's see: it's "easy".\n\`\`\`python\n${renderPlan(plan, CONTEXT.workers)}\n\`\`\`\nThat's it.`;
      expect(parsePlan(reply, CONTEXT)).toEqual(plan);
    }),
  );
});

test('the empty plan of a later round is read back', () => {
  const written = renderPlan({ steps: [] }, CONTEXT.workers);
  expect(parsePlan(written, { ...CONTEXT, round: 1 })).toEqual({ steps: [] });
});

test('JSON that follows our schema is read back, except for the two escapes with which LaTeX commands begin', () => {
  fc.assert(
    fc.property(plans, fc.boolean(), (plan, indented) => {
      const steps = plan.steps.map(({ worker, subtask, sees }) => ({
        worker: CONTEXT.workers.indexOf(worker),
        subtask: subtask.replace(/[\b\f]/g, ''),
        sees,
      }));
      const reply = JSON.stringify({ reasoning: 'as "asked"', steps }, null, indented ? 2 : 0);
      const expected = plan.steps.map((step, index) => ({ ...step, subtask: steps[index]?.subtask }));
      expect(parsePlan(reply, CONTEXT)).toEqual({ steps: expected });
    }),
  );
});

test('a plan with a worker outside the pool cannot be rendered', () => {
  const plan: Plan = { steps: [{ worker: 'stranger', subtask: '', sees: [] }] };
  expect(() => renderPlan(plan, CONTEXT.workers)).toThrow('"stranger" is not among the 4 workers');
});

test('a step that sees every earlier step is written as in the paper', () => {
  const plan = {
    steps: [0, 1, 2].map((index) => ({ worker: 'gpt', subtask: 'x', sees: index === 2 ? [0, 1] : [] })),
  };
  expect(renderPlan(plan, CONTEXT.workers)).toContain('access_list = [[], [], ["all"]]');
});

const BINARY = { ...CONTEXT, access: 'binary' } as const;

test('the schema asks for what a step sees in the form that is read back', () => {
  const sees = (access: 'binary' | 'any'): unknown =>
    planOutputSchema({ ...CONTEXT, access }, 'vendor').schema.properties;
  expect(sees('binary')).toMatchObject({
    steps: { items: { properties: { sees: { enum: ['none', 'all'] } } } },
  });
  expect(sees('any')).toMatchObject({
    steps: { items: { properties: { sees: { type: 'array', items: { type: 'integer' } } } } },
  });
  fc.assert(
    fc.property(plans, (plan) => {
      const written = renderPlanAsJson(plan, CONTEXT.workers, 'any').replace(/\\[bf]/g, '');
      const read = parsePlan(written, CONTEXT);
      expect(read.steps.map(({ sees: seen }) => seen)).toEqual(plan.steps.map(({ sees: seen }) => seen));
    }),
  );
});

/** Any output that the schema's grammar allows. */
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

test('anything that the grammar allows with binary access is a valid plan', () => {
  const grammar = z.fromJSONSchema(planOutputSchema(BINARY, 'grammar').schema);
  fc.assert(
    fc.property(outputs, (output) => {
      expect(grammar.parse(output)).toEqual(output);
      const { steps } = parsePlan(JSON.stringify(output), BINARY);
      expect(steps.map(({ worker }) => CONTEXT.workers.indexOf(worker))).toEqual(
        output.steps.map((step) => step.worker),
      );
    }),
  );
});

test('the grammar bounds what a model can write', () => {
  const grammar = z.fromJSONSchema(planOutputSchema(BINARY, 'grammar').schema);
  const step = { worker: 0, subtask: 'x', sees: 'none' };
  const allowed = (steps: unknown) => grammar.safeParse({ reasoning: '', steps }).success;
  expect(allowed([step])).toBe(true);
  expect(allowed([])).toBe(false);
  expect(allowed(Array(6).fill(step))).toBe(false);
  expect(allowed([{ ...step, worker: 4 }])).toBe(false);
  expect(allowed([{ ...step, subtask: 'x'.repeat(401) }])).toBe(false);
});

test('the schema for hosted APIs requires every field, and has no bounds that strict modes refuse', () => {
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

test('the schema of a later round allows a plan without steps', () => {
  const { schema } = planOutputSchema({ ...CONTEXT, round: 1 }, 'grammar');
  expect(z.fromJSONSchema(schema).safeParse({ reasoning: '', steps: [] }).success).toBe(true);
});
