import { EVALUATE_WORKFLOW } from '../../src/evaluation/names';
import type { EvaluateInput, EvaluationProgress } from '../../src/evaluation/contract';
import { questionSetKey, resultsFolder } from '../../src/evaluation/keys';
import { readMethods } from '../../src/evaluation/methods/read-method';
import { readResults } from '../../src/evaluation/activities/read-results';
import type { MethodRecord } from '../../src/evaluation/records';
import { keepLines } from '../../src/store/keep-lines';
import { openStage, type Stage, step } from '../support/stage';
import { planner, PRICE, skilled, sums } from './skilled-workers';

const WORKERS = ['good', 'weak'];
const QUESTIONS = 3;

let stage: Stage;
beforeEach(async () => {
  stage = await openStage({
    workers: WORKERS,
    configure: (config) => ({
      ...config,
      conductor: { ...config.conductor, price: PRICE } as typeof config.conductor,
      workers: config.workers.map((worker) => ({ ...worker, price: PRICE }) as typeof worker),
    }),
    simulation: {
      models: {
        conductor: planner({ steps: [step('weak', 'Try it.'), step('good', 'Check it.', [0])] }, WORKERS),
        good: skilled('good', 1),
        weak: skilled('weak', 0),
      },
    },
  });
});
afterEach(async () => {
  await stage.close();
});

async function inputOf(id: string, names: readonly string[]): Promise<EvaluateInput> {
  const { key } = await keepLines(stage.store, sums(QUESTIONS), questionSetKey);
  return {
    id,
    methods: readMethods(names, WORKERS),
    workers: WORKERS,
    seed: 1,
    set: key,
    questions: QUESTIONS,
    window: 2,
    runNanoUsd: null,
    nanoUsd: null,
  };
}

async function run(input: EvaluateInput): Promise<EvaluationProgress> {
  return stage.temporal.client.workflow.execute(EVALUATE_WORKFLOW, {
    workflowId: input.id,
    taskQueue: stage.taskQueue,
    args: [input],
  });
}

test('every method is tried on every question, judged, and kept with its cost', async () => {
  const names = [
    'conductor',
    'workers',
    'best-of',
    'vote:weak',
    'reflection',
    'mixture:good',
    'router',
    'random',
  ];
  const ablations = ['generic', 'silent', 'one-model:weak', 'permuted'];
  const input = await inputOf('eval-all', [...names, ...ablations]);
  const progress = await stage.whileWorking(() => run(input));
  expect(progress).toMatchObject({ begun: QUESTIONS, done: QUESTIONS, stoppedBy: null });
  const records = await readResults(stage.store, resultsFolder('eval-all'));
  expect(records).toHaveLength(QUESTIONS * input.methods.length);
  const table = Object.fromEntries(input.methods.map((method) => [method, sumUp(records, method)]));
  console.log(table);
});

function sumUp(records: readonly MethodRecord[], name: string): string {
  return records
    .filter(({ method }) => method === name)
    .map(
      ({ verdict, spent, runs, workers, reason }) =>
        `${verdict} ${spent.calls} calls ${spent.nanoUsd} ${runs.length} ${JSON.stringify(workers)} ${verdict === 'ungraded' ? reason : ''}`,
    )
    .join(' | ');
}
