import fc from 'fast-check';
import { workerPromptBytes } from '../../src/budget/worst-case';
import type { Layout } from '../../src/plan/plan';
import { workerMessages } from '../../src/plan/prompt/worker';
import { modelCard, runOf } from './cards';
import type { WorkerRequest } from '../../src/protocol/activities';
import { awkwardText, realBytes, storedOrNot, wholeOf } from './texts';

const RUN = runOf([]);

const requests: fc.Arbitrary<Parameters<typeof workerPromptBytes>[0] & Pick<WorkerRequest, 'worker'>> =
  fc.record({
    question: storedOrNot,
    subtask: awkwardText,
    sees: fc.array(
      fc.record({
        step: fc.nat({ max: 4 }),
        worker: fc.constant('w'),
        subtask: awkwardText,
        output: storedOrNot,
      }),
      { maxLength: 4 },
    ),
    round: fc.constant(0),
    step: fc.constant(4),
    worker: fc
      .constantFrom<Layout>('tagged', 'chat', 'plain')
      .map((layout) => ({ ...modelCard('w'), layout })),
  });

test('a prompt is never longer than its bound, whatever its texts hold and wherever they lie', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const { question, subtask, sees, worker } = request;
      const messages = workerMessages({
        question: wholeOf(question),
        subtask,
        sees: sees.map((seen) => ({ ...seen, output: wholeOf(seen.output) })),
        layout: worker.kind === 'model' ? worker.layout : 'tagged',
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
