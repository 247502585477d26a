import { questionsOf } from '../../examples/evaluate/world';
import { renderPlan } from '../../src';
import {
  EVALUATE_WORKFLOW,
  type EvaluateInput,
  evaluationManifestKey,
  questionSetKey,
  type Summary,
} from '../../src/evaluation/definitions';
import { TrainingPlugin } from '../../src/training';
import { writeManifest } from '../../src/training/policy/serving';
import { checkCheckpoints } from '../../src/cli/evaluate/plan-evaluation';
import { findEvaluation, routeQuestions } from '../../src/cli/evaluate/earlier';
import { MAX_STEPS } from '../../src/protocol/messages';
import type { Question } from '../../src/grading/question';
import { keepLines } from '../../src/store/records';
import { externalCard } from '../budget/cards';
import { aManifest } from '../support/a-manifest';
import { startScriptedPolicy } from '../support/scripted-policy';
import { ACCEPT, step } from '../support/stage';
import { useEach } from '../support/use';
import { describeSetting } from '../../src/evaluation/report/setting';
import { METHODS } from '../../src/evaluation/methods/read-method';
import type { MethodRecord } from '../../src/evaluation/results';
import { aRecord } from './a-record';
import { CALL_NANO_USD, type EvaluationStage, openEvaluation } from './open-evaluation';

const QUESTIONS = questionsOf(2).map((question) => ({ ...question, routed: 'coder' }));

const stage = useEach(() => openEvaluation(QUESTIONS));

const NAMED = ['workers', 'conductor:1', 'examples:in-domain', 'examples:mixed'];
const ALL = [...NAMED, ...Object.keys(METHODS).filter((name) => name !== 'worker')];

const recordOf = (records: readonly MethodRecord[], name: string): MethodRecord | undefined =>
  records.find(({ method }) => method === name);
const paidIn = ({ providers }: EvaluationStage): number =>
  providers.log.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0);

test('every method is tried on a question, judged, and kept with its cost and trace', async () => {
  const { input, progress, records } = await stage.play('eval-all', ALL, { questions: 1 });
  expect(progress).toMatchObject({ begun: 1, done: 1, stoppedBy: null });
  expect(records).toHaveLength(input.methods.length);
  expect(records.filter(({ verdict }) => verdict === 'ungraded')).toEqual([]);
  // Each call is paid for once; a method that changes a plan inherits the cost of writing it.
  const paid = paidIn(stage);
  expect(progress.spentNanoUsd).toBe(paid);
  const inherited = records.filter(
    ({ runs, planning }) =>
      planning.calls > 0 && !/conductor|router|examples|access|turns/.test(runs[0] ?? ''),
  );
  expect(inherited.map(({ method }) => method)).toEqual(
    expect.arrayContaining(['generic', 'silent', 'one-model:scholar', 'permuted']),
  );
  const total = records.reduce((sum, { spent }) => sum + (spent.nanoUsd ?? 0), 0);
  expect(total).toBe(paid + inherited.length * CALL_NANO_USD);

  const spentOn = (name: string): number => recordOf(records, name)?.spent.nanoUsd ?? NaN;
  for (const method of ['best-of:scholar', 'vote:scholar']) {
    expect(Math.abs(spentOn(method) - spentOn('conductor'))).toBeLessThanOrEqual(CALL_NANO_USD);
  }
  const [run = ''] = recordOf(records, 'reflection:scholar')?.runs ?? [];
  const trace = await stage.client.trace(run);
  expect(trace.rounds[0]?.plan?.steps).toHaveLength(5);
  expect(await stage.client.list({ taskQueue: stage.taskQueue })).toMatchObject({ runs: [] });
}, 120_000);

test('two evaluations with the same seed give identical tables', async () => {
  const methods = ['conductor', 'vote:clerk', 'random', 'permuted', 'mixture'];
  const one = await stage.play('eval-one', methods);
  const two = await stage.play('eval-two', methods);
  const [first, second] = [await stage.summary(one.input), await stage.summary(two.input)];
  expect(withoutTimes(second)).toEqual(withoutTimes(first));
}, 120_000);

function withoutTimes({ methods, ...summary }: Summary): object {
  return { ...summary, id: null, methods: methods.map((method) => ({ ...method, latencyMs: null })) };
}

test('attempts that do not fit into one plan are compared group by group', async () => {
  const dear = await openEvaluation(QUESTIONS, { conductorPrice: { input: 0, output: 300 } });
  try {
    const { records } = await dear.play('eval-many', ['best-of:scholar'], { questions: 1 });
    const [best, conductor] = records;
    expect(best).toMatchObject({ method: 'best-of:scholar', answer: expect.anything() as string });
    expect(best?.spent.calls).toBeGreaterThan(MAX_STEPS);
    expect(best?.spent.nanoUsd).toBeLessThanOrEqual(conductor?.spent.nanoUsd ?? 0);
  } finally {
    await dear.close();
  }
}, 120_000);

test('an earlier evaluation decides who answers for the learned router, and its cost is reported', async () => {
  const { input: earlier, records: tried } = await stage.play('eval-earlier', ['workers'], { questions: 1 });
  await keepManifest(earlier, '');
  const route = (id: string, asked: readonly Question[]) =>
    routeQuestions(stage.store, id, asked, earlier.workers);
  const { questions, learned } = await route(earlier.id, questionsOf(2).slice(1));
  expect(learned).toEqual({
    from: 'eval-earlier',
    questions: 1,
    answers: 3,
    repeated: 0,
    nanoUsd: 3 * CALL_NANO_USD,
  });
  const right = tried.filter(({ verdict }) => verdict === 'correct');
  expect(right.map(({ method }) => method)).toContain(`worker:${questions[0]?.routed ?? ''}`);

  const { key: set } = await keepLines(stage.store, questions, questionSetKey);
  const changes = { questions: 1, set };
  const { records } = await stage.play('eval-later', ['workers', 'learned-router'], changes);
  const routed = recordOf(records, 'learned-router');
  expect(routed?.workers).toEqual({ [questions[0]?.routed ?? '']: 1 });
  const alone = recordOf(records, `worker:${questions[0]?.routed ?? ''}`);
  expect(routed).toMatchObject({ verdict: alone?.verdict, answer: alone?.answer });

  await expect(route('eval-none', questionsOf(2))).rejects.toThrow(
    'has no evaluation "eval-none": check the id and the folder',
  );
  await expect(route(earlier.id, questionsOf(1))).rejects.toThrow(
    'has no results of scholar, coder, clerk as single workers on questions that are not asked now (of 1, 1 are)',
  );
});

test('a checkpoint of any training run can be a method, and a missing one is reported', async () => {
  const policy = await startScriptedPolicy('nightly-000001');
  try {
    const name = '000001';
    const manifest = aManifest({ name, model: 'nightly-000001', servers: [policy.baseUrl] });
    await writeManifest(stage.store, manifest);
    policy.script(renderPlan({ steps: [step('clerk', 'Answer it.')] }, ['scholar', 'coder', 'clerk']));
    await checkCheckpoints(stage.store, ['conductor', 'conductor:nightly/000001']);
    const plugins = [new TrainingPlugin({ config: stage.config, store: stage.store })];
    const methods = ['conductor', 'conductor:nightly/1'];
    const { input, records } = await stage.play('eval-checkpoint', methods, { questions: 1 }, { plugins });
    const [prompted, trained] = input.methods.map((name) => recordOf(records, name));
    expect(prompted?.plan?.steps).toHaveLength(3);
    const checkpoint = 'nightly/000001';
    expect(trained).toMatchObject({ method: `conductor:${checkpoint}`, checkpoint, workers: { clerk: 1 } });
    expect(prompted).not.toHaveProperty('checkpoint');
    const trace = await stage.client.trace(trained?.runs[0] ?? '');
    expect(trace.checkpoint).toBe(checkpoint);
  } finally {
    await policy.close();
  }
  await expect(checkCheckpoints(stage.store, ['conductor:nightly/000009'])).rejects.toThrow(
    /there is no checkpoint nightly\/000009: the store .* has 000001$/,
  );
  await expect(checkCheckpoints(stage.store, ['conductor:other/000001'])).rejects.toThrow(
    /there is no checkpoint other\/000001: the store .* has none of training run other$/,
  );
});

test('a budget is kept, and a larger one pays for nothing twice', async () => {
  const methods = ['worker:coder', 'worker:clerk', 'reflection:clerk'];
  // The budget covers 9 of 14 calls.
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

test('an invalid evaluation is refused with a sentence', async () => {
  const input = await stage.inputOf('eval-bad', ['conductor']);
  const { workflow } = stage.temporal.client;
  await stage.whileWorking(async () => {
    for (const [changes, sentence] of [
      [{ methods: ['guess'] }, 'there is no method "guess"'],
      [
        { window: 1e9 },
        'window in the input of conductorEvaluate is 1000000000: it must be a whole number from',
      ],
      [{ carried: { begun: 2 } }, 'it must be left out: only an evaluation that goes on may have it'],
      [{ verifier: externalCard('judge') }, 'it must be the card of a model'],
    ] as const) {
      const options = { workflowId: `bad-${Math.random()}`, taskQueue: stage.taskQueue };
      const args = [{ ...input, ...changes }];
      const failing = workflow.execute(EVALUATE_WORKFLOW, { ...options, args, workflowRunTimeout: '20s' });
      await expect(failing).rejects.toHaveProperty('cause.message', expect.stringContaining(sentence));
    }
  });
});

test('a right answer that the last step lost is reported, and so are votes for it', async () => {
  const answer = String(QUESTIONS[0]?.answer);
  const say = (text: string): string => `It is <answer>${text}</answer>`;
  stage.providers.script('coder', [say(answer), say('0')]);
  stage.providers.script('scholar', [say('0')]);
  stage.providers.script('clerk', [say(answer), ...Array<string>(20).fill(say('0'))]);
  const methods = ['conductor', 'vote:clerk', 'worker:clerk'];
  const { input, records } = await stage.play('eval-lost', methods, { questions: 1 });
  const outputsOf = (name: string): unknown => recordOf(records, name)?.outputs;
  // The Conductor has the coder answer, the scholar check, and the coder decide.
  expect(outputsOf('conductor')).toEqual([['correct', 'wrong', 'wrong']]);
  expect(outputsOf('vote:clerk')).toEqual([expect.arrayContaining(['correct', 'wrong'])]);
  expect(outputsOf('worker:clerk')).toEqual([['wrong']]);
  const { methods: found } = await stage.summary(input);
  expect(found.map(({ failures }) => failures)).toMatchObject([{ lost: 1 }, { lost: 1 }, {}]);
});

test('answers that the grader holds equal count as votes for one answer', async () => {
  const [question] = questionsOf(1);
  const set = await keepQuestions([{ ...question, grader: 'freeform', answer: 'the Danube' }]);
  stage.providers.script('clerk', ['the Rhine', 'Danube', 'The Danube.', 'the  danube', 'Rhine, I think']);
  const { records } = await stage.play('eval-votes', ['conductor', 'vote:clerk'], set);
  expect(recordOf(records, 'vote:clerk')).toMatchObject({ verdict: 'correct' });
});

test('if a bare question is answered better than a subtask in a team, the two forms of a method show it', async () => {
  const [question] = QUESTIONS;
  stage.providers.answer('clerk', ({ text }) => {
    const isBare = !text.includes('member of a team');
    return `It is <answer>${isBare ? String(question?.answer) : '-1'}</answer>`;
  });
  const names = ['worker:clerk', 'best-of:clerk', 'vote:clerk', 'reflection:clerk'];
  const both = names.flatMap((name) => [name, `${name}:team`]);
  const { input, records } = await stage.play('eval-forms', both, { questions: 1 });
  const verdicts = both.map((name) => [name, recordOf(records, name)?.verdict]);
  expect(verdicts).toEqual(both.map((name) => [name, name.endsWith('team') ? 'wrong' : 'correct']));
  const [alone] = stage.requestsTo('clerk');
  expect(JSON.parse(alone?.body ?? '')).toMatchObject({
    messages: [{ role: 'user', content: question?.question }],
  });
  expect(JSON.stringify(describeSetting(input, []))).toContain('were sent only the question');
});

test('a further Conductor is evaluated beside the configured one, with its own name, model and price', async () => {
  stage.providers.answer('clerk', '<answer>-1</answer>');
  const plan = renderPlan({ steps: [step('clerk', 'Answer it.')] }, ['scholar', 'coder', 'clerk']);
  stage.providers.answer('frontier', { text: plan, usage: { outputTokens: 200 } });
  const { input, records } = await stage.play('eval-named', ['conductor', 'conductor:frontier']);
  const [own, named] = ['conductor', 'conductor:frontier'].map((name) =>
    records.filter(({ method }) => method === name),
  );
  expect(named?.map(({ verdict }) => verdict)).toEqual(QUESTIONS.map(() => 'wrong'));
  expect(named?.map(({ planning }) => planning.nanoUsd)).toEqual(QUESTIONS.map(() => 2 * CALL_NANO_USD));
  expect(own?.map(({ planning }) => planning.nanoUsd)).toEqual(QUESTIONS.map(() => CALL_NANO_USD));
  expect(stage.requestsTo('frontier')).toHaveLength(QUESTIONS.length);
  const { methods } = await stage.summary(input);
  expect(methods[1]?.comparison).toMatchObject({ against: 'conductor' });
  const [table] = describeSetting(input, []);
  expect(table).toMatchObject({
    rows: expect.arrayContaining([
      expect.arrayContaining(['conductor', 'conductor', '0 in, 5 out']),
      expect.arrayContaining(['conductor:frontier', 'frontier', '0 in, 10 out']),
    ]) as unknown,
  });
}, 120_000);

test('a baseline is asked alone, with its own settings and price, and the Conductor does not know of it', async () => {
  stage.providers.answer('giant', ({ text }) => {
    const asked = QUESTIONS.find(({ question }) => text.includes(question));
    return { text: `<answer>${String(asked?.answer)}</answer>`, usage: { outputTokens: 100 } };
  });
  const asked = ['worker:giant', 'vote:giant', 'best-of:giant', 'reflection:giant'];
  const { input, records } = await stage.play('eval-baseline', ['conductor', 'workers', ...asked], {
    questions: 1,
  });
  for (const name of asked) {
    const record = recordOf(records, name);
    expect(record).toMatchObject({ verdict: 'correct', workers: { giant: expect.any(Number) as number } });
    expect(record?.spent.nanoUsd).toBe((record?.spent.calls ?? NaN) * CALL_NANO_USD);
  }
  expect(recordOf(records, 'reflection:giant')?.spent.calls).toBe(5);
  const [request] = stage.requestsTo('giant');
  expect(JSON.parse(request?.body ?? '')).toMatchObject({ max_tokens: 20_480 });
  const planning = stage.requestsTo('conductor').map(({ body }) => body);
  expect(planning.join()).toContain('scholar');
  expect(planning.join()).not.toContain('giant');
  expect(describeSetting(input, [])[0]).toMatchObject({
    rows: expect.arrayContaining([
      expect.arrayContaining(['baseline giant', '20480', '0 in, 10 out']),
    ]) as unknown,
  });
}, 120_000);

test('no plan may name a baseline, whoever wrote it', async () => {
  const given = { plan: { steps: [step('giant', 'Answer it.')] }, outputs: [null] };
  const { error } = await stage.solve({ question: 'Why?', given });
  expect(error?.type).toBe('Plan.Invalid');
  expect(error?.message).toContain('There is no worker "giant"');
  stage.providers.script('conductor', [
    'model_id = [3]\nsubtasks = ["Answer it."]\naccess_list = [[]]',
    'model_id = [2]\nsubtasks = ["Answer it."]\naccess_list = [[]]',
  ]);
  stage.providers.answer('clerk', 'It is so.');
  const { calls } = await stage.solve({ question: 'Why?' });
  expect(calls.map(({ purpose, worker }) => [purpose, worker])).toEqual([
    ['plan', 'conductor'],
    ['repair', 'conductor'],
    ['step', 'clerk'],
  ]);
  expect(stage.requestsTo('giant')).toEqual([]);
});

describe('turns', () => {
  const pool = ['scholar', 'coder', 'clerk'];
  const turnOf = (worker: string): string => renderPlan({ steps: [step(worker, 'Answer it.')] }, pool);

  test('are planned after the last output was seen, and end when the Conductor accepts it', async () => {
    const answer = `<answer>${String(QUESTIONS[0]?.answer)}</answer>`;
    stage.providers.script('conductor', [turnOf('clerk'), turnOf('coder'), ACCEPT]);
    stage.providers.script('clerk', ['<answer>-1</answer>']);
    stage.providers.script('coder', [answer]);
    const { records } = await stage.play('eval-turns', ['turns'], { questions: 1 });
    expect(records).toMatchObject([{ verdict: 'correct', workers: { clerk: 1, coder: 1 } }]);
    const [first, second, third] = stage.requestsTo('conductor').map(({ body }) => body);
    expect(stage.requestsTo('conductor')).toHaveLength(3);
    expect(first).toContain('exactly one step');
    expect(second).toContain('<answer>-1</answer>');
    expect(third).toContain(answer);
  });

  test('are at most five, even if the Conductor may not call itself', async () => {
    stage.providers.answer('conductor', turnOf('clerk'));
    stage.providers.answer('clerk', '<answer>-1</answer>');
    const { run } = await stage.inputOf('eval-five-turns', ['turns']);
    const changes = { questions: 1, run: { ...run, recursion: 'never' } as const };
    const { records } = await stage.play('eval-five-turns', ['turns'], changes);
    expect(records).toMatchObject([{ verdict: 'wrong', workers: { clerk: 5 } }]);
  });
});

test('agreement of the workers selects an answer without knowledge of the right one', async () => {
  const answer = String(QUESTIONS[0]?.answer);
  stage.providers.script('scholar', ['It is <answer>0</answer>']);
  stage.providers.script('coder', [`<answer>${answer}</answer>`]);
  stage.providers.script('clerk', [`So it must be <answer>${answer}.0</answer>`]);
  const { records } = await stage.play('eval-agreement', ['agreement'], { questions: 1 });
  expect(records).toMatchObject([{ method: 'agreement', verdict: 'correct' }]);
  expect(records[0]?.workers).toEqual({ scholar: 1, coder: 1, clerk: 1 });
});

test('a failing provider says nothing about a method', async () => {
  stage.providers.answer('clerk', { fault: 'bad-request' });
  const methods = ['worker:clerk', 'worker:coder'];
  const { progress, records } = await stage.play('eval-fault', methods, { questions: 1 });
  expect(progress.scores).toMatchObject([{ graded: 0 }, { graded: 1 }]);
  const [failed] = records;
  expect(failed).toMatchObject({ method: 'worker:clerk', verdict: 'ungraded', answer: null });
  expect(failed?.reason).toContain('clerk');
  expect(failed?.runs).toEqual(['eval-fault-1-worker-clerk']);
});

/** Returns the words that a judge must choose from, and a function for the texts between its marks. */
function readPrompt(text: string): { words: readonly string[]; partOf: (name: string) => string } {
  const words = /nothing else: (\S+) or (\S+)(?: or (\S+))?/.exec(text)?.slice(1) ?? [];
  const [, mark = ''] = (words[0] ?? '').split('-');
  const partOf = (name: string): string =>
    text.split(`--- ${mark}: ${name} ---\n`)[1]?.split(`\n--- ${mark}: end of ${name} ---`)[0] ?? '';
  return { words, partOf };
}

async function keepManifest(input: EvaluateInput, startedAt: string): Promise<void> {
  const manifest = { ...input, schema: 1, file: 'world.jsonl', startedAt };
  await stage.store.write(evaluationManifestKey(input.id), Buffer.from(JSON.stringify(manifest)));
}

async function keepQuestions(questions: readonly object[]): Promise<Partial<EvaluateInput>> {
  const { key } = await keepLines(stage.store, questions, questionSetKey);
  return { set: key, questions: questions.length };
}

test('a verifier decides where a question asks for it, and its calls are booked apart and count as spent', async () => {
  const question = { grader: 'freeform', answer: 'the Danube', verify: true };
  const set = await keepQuestions(
    ['a', 'b'].map((id) => ({ id, question: `Which river flows through Vienna (${id})?`, ...question })),
  );
  stage.providers.answer('clerk', 'the Donau');
  stage.providers.answer('coder', 'the Danube');
  stage.providers.answer('judge', ({ text }) => {
    const { words, partOf } = readPrompt(text);
    return `${partOf('answer to judge')} it is.\n${words[0] ?? ''}`;
  });
  const methods = ['worker:clerk', 'worker:coder'];
  const changes = { ...set, verifier: stage.verifier };
  const { input, progress, records } = await stage.play('eval-verified', methods, changes);
  expect(progress.scores).toEqual([
    { correct: 2, graded: 2 },
    { correct: 2, graded: 2 },
  ]);
  const [clerk, coder] = records;
  expect(clerk).toMatchObject({ graderVersion: 'freeform/7 verifier/judge', judging: { calls: 1 } });
  expect(coder).toMatchObject({ method: 'worker:coder', graderVersion: 'freeform/7' });
  expect(coder?.judging).toBeUndefined();
  expect(await stage.rows('eval-verified-1')).toMatchObject([{ worker: 'verifier' }]);
  const paid = paidIn(stage);
  expect(progress.spentNanoUsd).toBe(paid);
  const summary = await stage.summary(input);
  expect(summary.usd).toBeCloseTo(paid / 1e9, 9);
  expect(summary.methods[0]?.calls).toBe(1);
  // Without a verifier, the rule-based grader decides.
  const ruled = await stage.play('eval-ruled', ['worker:clerk'], { ...set, questions: 1 });
  expect(ruled.records).toMatchObject([{ verdict: 'wrong' }]);
});

test('logged answers are not asked for again, and a judge that prefers a position prefers neither answer', async () => {
  const spent = { calls: 3, inputTokens: 30, outputTokens: 3, nanoUsd: 5 };
  const { lost, planning, latencyMs, workers, plan, rounds, degraded, stoppedBy } = aRecord('conductor', 0);
  const facts = { lost, planning, latencyMs, workers, plan, rounds, degraded, stoppedBy };
  const solved = { ...facts, answer: 'better', runs: ['solve-1'], spent };
  const set = await keepQuestions(
    ['better', 'same', 'worse', 'first', 'silent'].map((id) => ({
      id,
      question: `How is the other answer: ${id}?`,
      grader: 'none',
      solved,
    })),
  );
  stage.providers.answer('clerk', ({ text }) => /answer: (\w+)\?/.exec(text)?.[1] ?? '');
  stage.providers.answer('judge', ({ text }) => {
    const { words, partOf } = readPrompt(text);
    const [first = '', second = '', equal = ''] = words;
    const other = partOf('first answer') === 'better' ? partOf('second answer') : partOf('first answer');
    const place = partOf('first answer') === 'better' ? [first, second] : [second, first];
    const said: Record<string, string | undefined> = { better: equal, same: equal, worse: place[0], first };
    return `I compare.\n${said[other] ?? 'nothing'}`;
  });
  const changes = { ...set, verifier: stage.verifier, compares: true };
  const { input, records } = await stage.play('eval-log', ['conductor', 'worker:clerk'], changes);
  const models = stage.providers.log.map(({ model }) => model);
  expect(models.filter((model) => model === 'conductor')).toEqual([]);
  expect(models.filter((model) => model === 'judge')).toHaveLength(10);
  expect(records.filter(({ method }) => method === 'conductor')).toMatchObject(
    Array(5).fill({ verdict: 'ungraded', runs: ['solve-1'], spent }),
  );
  const preferences = records.flatMap(({ question, preference }) =>
    preference === undefined ? [] : [[question, preference.outcome]],
  );
  expect(Object.fromEntries(preferences)).toEqual({
    better: 'tied',
    same: 'tied',
    worse: 'lost',
    first: 'tied',
    silent: 'unjudged',
  });
  const summary = await stage.summary(input);
  expect(summary.methods[1]).toMatchObject({
    preferences: { won: 0, lost: 1, tied: 3, unjudged: 1 },
  });
});

test('an evaluation is found by its id, by a unique prefix, and as the last one', async () => {
  const input = await stage.inputOf('eval-x1', ['workers'], { questions: 1 });
  for (const [id, startedAt] of [
    ['eval-x1', '2026-11-01'],
    ['eval-x12', '2026-11-03'],
    ['eval-x3-of-mine', '2026-11-02'],
  ] as const) {
    await keepManifest({ ...input, id }, startedAt);
  }
  const found = ['eval-x1', 'eval-x3-of', 'last'].map((given) => findEvaluation(stage.store, given));
  expect((await Promise.all(found)).map(({ id }) => id)).toEqual(['eval-x1', 'eval-x3-of-mine', 'eval-x12']);
  await expect(findEvaluation(stage.store, 'eval-x')).rejects.toThrow(
    '"eval-x" matches more than one evaluation; use a longer prefix: eval-x12, eval-x3-of-mine, eval-x1',
  );
});

test('every method gets the conversation that a question continues', async () => {
  const conversation = [{ role: 'user', content: 'My name is Ada.' }] as const;
  const own = await openEvaluation(QUESTIONS.map((question) => ({ ...question, conversation })));
  try {
    const { records } = await own.play('eval-told', ['workers', 'conductor', 'vote:coder'], { questions: 1 });
    expect(records.filter(({ verdict }) => verdict === 'ungraded')).toEqual([]);
    expect(own.providers.log.length).toBeGreaterThan(5);
    expect(own.providers.log.filter(({ body }) => !body.includes('My name is Ada.'))).toEqual([]);
  } finally {
    await own.close();
  }
}, 60_000);
