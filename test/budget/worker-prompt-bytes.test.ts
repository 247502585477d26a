import fc from 'fast-check';
import { workerPromptBytes } from '../../src/budget/worst-case';
import type { Layout } from '../../src/plan/plan';
import { workerMessages } from '../../src/plan/prompt/worker';
import { modelCard, runOf } from './cards';
import { awkwardText, realBytes, storedOrNot, wholeOf } from './texts';

const RUN = runOf([]);

const instructed = fc.record({
  layout: fc.constantFrom<Layout>('tagged', 'chat', 'plain'),
  instructions: fc.option(awkwardText, { nil: undefined }),
});

const requests = fc.record({
  question: storedOrNot,
  subtask: awkwardText,
  sees: fc.array(
    fc.record({
      step: fc.nat({ max: 4 }),
      worker: fc.constant('w'),
      subtask: storedOrNot,
      output: storedOrNot,
    }),
    { maxLength: 4 },
  ),
  worker: instructed.map(({ layout, instructions }) => ({
    ...modelCard('w'),
    layout,
    ...(instructions !== undefined && { instructions }),
  })),
});

test('a prompt is never longer than its bound, whatever its texts hold and wherever they lie', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const { question, subtask, sees, worker } = request;
      const messages = workerMessages({
        question: wholeOf(question),
        subtask,
        sees: sees.map((seen) => ({ ...seen, subtask: wholeOf(seen.subtask), output: wholeOf(seen.output) })),
        layout: worker.layout,
        instructions: worker.instructions,
      });
      expect(realBytes(messages)).toBeLessThanOrEqual(workerPromptBytes(request, RUN));
    }),
    { numRuns: 300 },
  );
});

test('the bound is close: a few hundred bytes for each part', () => {
  const request = { question: 'Why?', subtask: 'Say', sees: [], round: 0, step: 0, worker: modelCard('w') };
  const messages = workerMessages({ ...request, layout: 'tagged' });
  expect(workerPromptBytes(request, RUN) - realBytes(messages)).toBeLessThan(1000);
});

test('what everybody in a child may see counts, too', () => {
  const request = { question: 'Why?', subtask: 'Say', sees: [], round: 0, step: 0, worker: modelCard('w') };
  const background = [{ subtask: 'é'.repeat(50), output: { ref: 'r', bytes: 100_000, preview: '' } }];
  const more = workerPromptBytes({ ...request, background }, RUN) - workerPromptBytes(request, RUN);
  expect(more).toBeGreaterThanOrEqual(100_000 + 100);
});
