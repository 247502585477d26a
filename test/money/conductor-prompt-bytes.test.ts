import fc from 'fast-check';
import { conductorPromptBytes } from '../../src/money/conductor-prompt-bytes';
import { conductorMessages } from '../../src/plan/conductor-prompt';
import { planOutputSchema } from '../../src/plan/output-schema';
import { renderPlan } from '../../src/plan/render';
import type { WritePlanRequest } from '../../src/protocol/activities';
import { modelCard, runOf } from './cards';
import { awkwardText, realBytes, storedOrNot, wholeOf } from './texts';

const POOL = [{ ...modelCard('gpt'), notes: 'strong at code' }, modelCard('sonnet')];
const REQUEST: WritePlanRequest = { question: 'Why?', round: 0, repairs: [] };
const stored = (bytes: number): { ref: string; bytes: number; preview: string } => ({
  ref: '',
  bytes,
  preview: '',
});

const repairs = fc.array(
  fc.record({
    reply: storedOrNot,
    problem: fc.record({ type: fc.constant('Plan.Invalid'), message: awkwardText }),
  }),
  { maxLength: 2 },
);

test('a prompt with its schema is never longer than its bound, whatever its texts hold and wherever they lie', () => {
  const question = storedOrNot;
  fc.assert(
    fc.property(question, repairs, fc.boolean(), fc.boolean(), (asked, failed, jsonSchema, mayCallItself) => {
      const run = runOf(POOL, {
        capabilities: { sampling: true, effort: [], jsonSchema, maxOutputTokens: null },
      });
      const workers = mayCallItself ? [...POOL, { id: 'conductor', notes: null }] : POOL;
      const messages = conductorMessages({
        question: wholeOf(asked),
        workers,
        describe: 'notes',
        maxSteps: 5,
        format: jsonSchema ? 'json' : 'lists',
        repairs: failed.map(({ reply, problem }) => ({ reply: wholeOf(reply), problem: problem.message })),
      });
      const context = { workers: workers.map(({ id }) => id), maxSteps: 5, round: 0 };
      const schema = jsonSchema ? JSON.stringify(planOutputSchema(context, 'grammar')) : '';
      const bound = conductorPromptBytes(
        { ...REQUEST, question: asked, repairs: failed, mayCallItself },
        run,
      );
      expect(realBytes(messages) + Buffer.byteLength(schema)).toBeLessThanOrEqual(bound);
    }),
    { numRuns: 300 },
  );
});

test('of a failed reply only as much counts as is shown', () => {
  const problem = { type: 'Plan.Invalid', message: 'no plan' };
  const bound = (bytes: number): number =>
    conductorPromptBytes({ ...REQUEST, repairs: [{ reply: stored(bytes), problem }] }, runOf(POOL));
  const endless = '漢'.repeat(100_000);
  const shown = realBytes(
    conductorMessages({
      question: '',
      workers: POOL,
      describe: 'names',
      maxSteps: 5,
      format: 'json',
      repairs: [{ reply: endless, problem: '' }],
    }),
  );
  const alone = realBytes(
    conductorMessages({
      question: '',
      workers: POOL,
      describe: 'names',
      maxSteps: 5,
      format: 'json',
      repairs: [],
    }),
  );
  expect(bound(300_000) - bound(0)).toBeGreaterThanOrEqual(12_000);
  expect(bound(300_000)).toBe(bound(900_000));
  expect(bound(300_000)).toBeGreaterThanOrEqual(conductorPromptBytes(REQUEST, runOf(POOL)) + shown - alone);
});

test('what a review is about, hints and background count as they lie', () => {
  const plan = { steps: [{ worker: 'gone', subtask: '\b"\\'.repeat(100), sees: [] }] };
  const alone = conductorPromptBytes(REQUEST, runOf(POOL));
  const more = (request: Partial<WritePlanRequest>): number =>
    conductorPromptBytes({ ...REQUEST, ...request }, runOf(POOL)) - alone;
  const planBytes = Buffer.byteLength(renderPlan(plan, ['gone']));
  expect(more({ review: { plan, answer: stored(5000) } })).toBeGreaterThanOrEqual(planBytes + 5000);
  expect(more({ hints: ['é'.repeat(100), 'x'] })).toBeGreaterThanOrEqual(201);
  expect(more({ background: [{ subtask: null, output: stored(7000) }] })).toBeGreaterThanOrEqual(7000);
});
