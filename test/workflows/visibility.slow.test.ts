import fc from 'fast-check';
import type { ConfigInput, Plan } from '../../src';
import { openStage, step } from './stage';
import { useOnce } from '../support/use';

const WORKERS = ['a', 'b', 'c'];

/** Plans of one to five steps with any legal access graph; each subtask holds a unique word. */
const plans: fc.Arbitrary<Plan> = fc
  .array(fc.record({ worker: fc.constantFrom(...WORKERS), mask: fc.nat(31) }), { minLength: 1, maxLength: 5 })
  .map((drafts) => ({
    steps: drafts.map(({ worker, mask }, index) => ({
      worker,
      subtask: `subtask-${index}-marker`,
      sees: drafts.flatMap((_, earlier) => (earlier < index && (mask >> earlier) & 1 ? [earlier] : [])),
    })),
  }));

describe('what a worker receives', () => {
  const stage = useOnce(() => openStage({ workers: WORKERS }));

  test('is only the question, what its step may see, and its own subtask, over generated plans', async () => {
    for (const worker of WORKERS)
      stage.providers.answer(worker, ({ text }) => `output-of-${ownSubtask(text)}-marker`);
    await stage.whileWorking(async () => {
      for (const [run, plan] of fc.sample(plans, { numRuns: 25, seed: 7 }).entries()) {
        const question = `question-${run}-marker`;
        const before = stage.providers.log.length;
        stage.plan(plan.steps);
        const result = await stage.client.solve({ question });
        expect(result).toMatchObject({ status: 'completed', degraded: false });

        const bodies = stage.providers.log.slice(before + 1).map((record) => record.body);
        expect(bodies).toHaveLength(plan.steps.length);
        for (const [index, { sees }] of plan.steps.entries()) {
          const body = bodies.find((each) => ownSubtask(each) === index) ?? '';
          const seen = sees.flatMap((earlier) => [`subtask-${earlier}`, `output-of-${earlier}`]);
          expect(markersOf(body)).toEqual([`question-${run}`, `subtask-${index}`, ...seen].sort());
        }
      }
    });
  });
});

/** Returns the number of the worker's own subtask, which comes last. */
function ownSubtask(text: string): number {
  return Number([...text.matchAll(/subtask-(\d+)-marker/g)].at(-1)?.[1]);
}

function markersOf(body: string): string[] {
  return [...body.matchAll(/((?:question|subtask|output-of)-\d+)-marker/g)]
    .map(([, marker]) => marker ?? '')
    .sort();
}

test("a worker's instructions are the system text of its own requests only", async () => {
  const stage = await openStage({ workers: ['a', 'b'], configure: instruct });
  stage.plan([step('a', 'Find it.'), step('b', 'Check it.', [0])]);
  await stage.solve({ question: 'What is it?' });
  await stage.close();
  const systemOf = (worker: string): unknown =>
    stage.requestsTo(worker).map(({ body }) => (JSON.parse(body) as { messages: object[] }).messages[0]);
  expect(systemOf('a')).toEqual([{ role: 'system', content: 'Answer in French.' }]);
  expect(systemOf('b')).toMatchObject([{ role: 'user' }]);
});

function instruct(config: ConfigInput): ConfigInput {
  const workers = config.workers.map((worker) =>
    worker.id === 'a' && worker.provider === 'openai'
      ? { ...worker, instructions: 'Answer in French.' }
      : worker,
  );
  return { ...config, workers };
}
