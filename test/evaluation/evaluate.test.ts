import { questionsOf } from '../../examples/evaluate/world';
import { METHODS } from '../../src/evaluation/methods/read-method';
import type { MethodSummary, Summary } from '../../src/evaluation/summarize';
import { EVALUATE_WORKFLOW } from '../../src/evaluation/names';
import { CALL_NANO_USD, type EvaluationStage, openEvaluation } from './open-evaluation';

const QUESTIONS = questionsOf(2);

let stage: EvaluationStage;
beforeEach(async () => {
  stage = await openEvaluation(QUESTIONS);
});
afterEach(async () => {
  await stage.close();
});

const ALL = ['workers', 'conductor:1', ...Object.keys(METHODS).filter((name) => name !== 'worker')];

test('every method is tried on a question, judged, and kept with its cost and its trace', async () => {
  const input = await stage.inputOf('eval-all', ALL, { questions: 1 });
  const progress = await stage.whileWorking(() => stage.run(input));
  expect(progress).toMatchObject({ begun: 1, done: 1, stoppedBy: null });
  const records = await stage.results('eval-all');
  expect(records).toHaveLength(input.methods.length);
  expect(records.filter(({ verdict }) => verdict === 'ungraded')).toEqual([]);
  // Each call is paid for once: what a changed plan cost to write, it inherits.
  const paid = stage.providers.log.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0);
  expect(progress.spentNanoUsd).toBe(paid);
  const inherited = records.filter(
    ({ runs, planning }) => planning.calls > 0 && !/conductor|router/.test(runs[0] ?? ''),
  );
  expect(inherited.map(({ method }) => method)).toEqual(
    expect.arrayContaining(['generic', 'silent', 'one-model:scholar', 'permuted']),
  );
  const total = records.reduce((sum, { spent }) => sum + (spent.nanoUsd ?? 0), 0);
  expect(total).toBe(paid + inherited.length * CALL_NANO_USD);

  const spentOn = (name: string): number =>
    records.find(({ method }) => method === name)?.spent.nanoUsd ?? NaN;
  for (const method of ['best-of:scholar', 'vote:scholar']) {
    expect(Math.abs(spentOn(method) - spentOn('conductor'))).toBeLessThanOrEqual(CALL_NANO_USD);
  }
  const [run = ''] = records.find(({ method }) => method === 'reflection:scholar')?.runs ?? [];
  const trace = await stage.client.trace(run);
  expect(trace.rounds[0]?.plan?.steps).toHaveLength(5);
  expect(await stage.client.list({ taskQueue: stage.taskQueue })).toMatchObject({ runs: [] });
}, 120_000);

test('two evaluations with one seed give identical tables', async () => {
  const methods = ['conductor', 'vote:clerk', 'random', 'permuted', 'mixture'];
  const inputs = [
    await stage.inputOf('eval-one', methods),
    await stage.inputOf('eval-two', methods),
  ] as const;
  await stage.whileWorking(async () => {
    for (const input of inputs) await stage.run(input);
  });
  const [one, two] = [await stage.summary(inputs[0]), await stage.summary(inputs[1])];
  expect(withoutTimes(two)).toEqual(withoutTimes(one));
});

function withoutTimes({ methods, ...summary }: Summary): object {
  const timeless = (method: MethodSummary): object => ({ ...method, latencyMs: null });
  return { ...summary, id: null, methods: methods.map(timeless) };
}

test('a budget is kept, and more of it pays for nothing twice', async () => {
  const methods = ['worker:coder', 'worker:clerk', 'reflection:clerk'];
  // Of 14 calls.
  const short = await stage.inputOf('eval-short', methods, { nanoUsd: 9 * CALL_NANO_USD, window: 2 });
  await stage.whileWorking(async () => {
    const first = await stage.run({ ...short, limits: { tokens: 100_000 } });
    expect(first.stoppedBy).toBe('cost');
    expect(first.spentNanoUsd).toBeLessThanOrEqual(9 * CALL_NANO_USD);
    const known = await stage.results('eval-short');
    const before = stage.providers.log.length;

    const second = await stage.run({ ...short, nanoUsd: null });
    expect(second).toMatchObject({ done: 2, stoppedBy: null });
    expect(await stage.results('eval-short')).toEqual(expect.arrayContaining([...known]));
    const callsKnown = known.reduce((sum, { spent }) => sum + spent.calls, 0);
    expect(stage.providers.log.length - before).toBe(14 - callsKnown);
  });
});

test.each([
  [{ methods: ['guess'] }, 'there is no method "guess"'],
  [{ window: 1e9 }, 'window in the input of conductorEvaluate must be a whole number from 1 to 64'],
  [{ id: '../x' }, 'id in the input of conductorEvaluate must be up to 63 small letters'],
  [{ carried: { begun: 2 } }, 'carried in the input of conductorEvaluate must be left out'],
])('what no evaluation can be made of is refused with a sentence: %j', async (changes, sentence) => {
  const input = { ...(await stage.inputOf('eval-bad', ['conductor'])), ...changes };
  await stage.whileWorking(async () => {
    const { workflow } = stage.temporal.client;
    const options = { workflowId: `bad-${Math.random()}`, taskQueue: stage.taskQueue, args: [input] };
    const failing = workflow.execute(EVALUATE_WORKFLOW, { ...options, workflowRunTimeout: '20s' });
    await expect(failing).rejects.toMatchObject({
      cause: { message: expect.stringContaining(sentence) as string },
    });
  });
});

test('a provider that fails says nothing about a method', async () => {
  stage.providers.answer('clerk', { fault: 'bad-request' });
  const input = await stage.inputOf('eval-fault', ['worker:clerk', 'worker:coder'], { questions: 1 });
  const progress = await stage.whileWorking(() => stage.run(input));
  expect(progress.scores).toMatchObject([{ graded: 0 }, { graded: 1 }]);
  const [failed] = await stage.results('eval-fault');
  expect(failed).toMatchObject({ method: 'worker:clerk', verdict: 'ungraded', answer: null });
  expect(failed?.reason).toContain('clerk');
  expect(failed?.runs).toEqual(['eval-fault-1-worker-clerk']);
});
