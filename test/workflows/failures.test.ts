import { TEST_KEY } from '../support/search-for-secrets';
import { renderPlan } from '../../src';
import { callOf } from '../../src/store/ledger';
import { openStage, step, type Stage } from './stage';

let stage: Stage;
afterEach(() => stage.close());

describe('when a provider fails', () => {
  beforeEach(async () => {
    stage = await openStage({ workers: ['a', 'b'] });
  });

  test('400 and 401 fail at once, naming provider, model and reason in one sentence without the key', async () => {
    stage.plan([step('a', 'One.'), step('b', 'Two.')]);
    stage.providers.script('a', [{ fault: 'bad-request', message: 'max_tokens is too large' }]);
    stage.providers.script('b', [
      { fault: 'unauthorized', message: `Incorrect API key provided: ${TEST_KEY}` },
    ]);
    const result = await stage.solve({ question: 'Does it fail at once?' });
    expect(result).toMatchObject({ status: 'failed', answer: null, error: { type: 'Solve.NoAnswer' } });
    expect(stage.providers.log).toHaveLength(3);
    const [first, second] = result.rounds[0]?.steps ?? [];
    expect(first?.error?.type).toBe('Provider.BadRequest');
    expect(first?.error?.message).toMatch(/worker a \(openai a\) answered 400: .*max_tokens is too large/);
    expect(second?.error?.type).toBe('Provider.Authentication');
    expect(JSON.stringify(result)).not.toContain(TEST_KEY);
  });

  test('429 is retried after the time that the provider names, within one activity', async () => {
    stage.plan([step('a', 'Once more.')]);
    stage.providers.script('a', [
      { fault: 'rate-limited', retryAfter: { ms: 1500, as: 'milliseconds' } },
      { text: 'now it works' },
    ]);
    const result = await stage.solve({ question: 'Does it wait?' });
    expect(result).toMatchObject({ status: 'completed', answer: 'now it works', degraded: false });
    const [refused, answered] = stage.requestsTo('a');
    expect((answered?.receivedAt ?? 0) - (refused?.respondedAt ?? 0)).toBeGreaterThanOrEqual(1500);
    expect(result.calls.filter((call) => call.purpose === 'step')).toMatchObject([
      { attempt: 1, error: { type: 'Provider.RateLimited' }, nanoUsd: 0 },
      { attempt: 2, error: null },
    ]);
    expect(new Set(result.calls.map((call) => call.callId)).size).toBe(2);
  });

  test('requests are capped at five, and the last failure becomes final', async () => {
    stage.plan([step('a', 'Never.')]);
    stage.providers.answer('a', { fault: 'rate-limited', retryAfter: { ms: 1, as: 'milliseconds' } });
    const result = await stage.solve({ question: 'Does it give up?' });
    expect(stage.requestsTo('a')).toHaveLength(5);
    const message: unknown = expect.stringMatching(/gave up after 5 requests/);
    expect(result.rounds[0]?.steps[0]?.error).toMatchObject({ type: 'Provider.RateLimited', message });
  });

  test('a possibly billed failure returns to the workflow, which retries it only once', async () => {
    stage.plan([step('a', 'Cut off.')]);
    stage.providers.answer('a', { fault: 'truncated' });
    const result = await stage.solve({ question: 'How often is it bought?' });
    expect(stage.requestsTo('a')).toHaveLength(2);
    const steps = (await stage.rows(result.id)).filter((call) => call.purpose === 'step');
    expect(new Set(steps.map((call) => call.callId)).size).toBe(2);
    expect(steps.map(({ nanoUsd }) => nanoUsd)).toEqual([null, null]);
    expect(result.calls.filter(({ purpose }) => purpose === 'step')).toMatchObject(steps.map(callOf));
    const plan = result.calls.find(({ purpose }) => purpose === 'plan');
    expect(result).toMatchObject({ costUsd: (plan?.nanoUsd ?? NaN) / 1e9, costIsLowerBound: true });
  });

  test('an answer cut off by its limit is requested again with more room', async () => {
    stage.plan([step('a', 'Say much.')]);
    stage.providers.script('a', [
      { text: 'The beginning of', finish: 'length' },
      { text: 'The whole answer.' },
    ]);
    const result = await stage.solve({ question: 'Is there more room?' });
    expect(result).toMatchObject({ answer: 'The whole answer.', degraded: false });
    const limits = stage
      .requestsTo('a')
      .map(({ body }) => (JSON.parse(body) as { max_tokens: number }).max_tokens);
    expect(limits[1]).toBe((limits[0] ?? 0) * 4);
  });

  test('a worker that fails permanently leaves an empty output and its reason, and the others still answer', async () => {
    stage.plan([step('a', 'Refused.'), step('b', 'Goes on.', [0])]);
    stage.providers.answer('a', { text: '', finish: 'refusal', refusal: 'I would rather not.' });
    stage.providers.answer('b', 'the answer of the rest');
    const result = await stage.solve({ question: 'Who answers?' });
    expect(result).toMatchObject({ status: 'completed', answer: 'the answer of the rest', degraded: true });
    const message: unknown = expect.stringContaining('I would rather not');
    const error = { type: 'Provider.Refused', message };
    expect(result.rounds[0]?.steps[0]).toMatchObject({ output: '', error });
  });
});

test('a call that was never sent does not count: no worker process took it, or its key is missing', async () => {
  const nobody = { id: 'x', provider: 'activity', type: 'answer', taskQueue: 'nobody-polls-this' } as const;
  stage = await openStage({
    workers: ['a', 'b'],
    configure: ({ workers, ...config }) => ({
      ...config,
      workers: [
        ...workers.map((worker) => (worker.id === 'a' ? { ...worker, apiKeyEnv: 'NOT_SET' } : worker)),
        { ...nobody, timeout: '1s' },
      ] as typeof workers,
    }),
  });
  stage.providers.script('conductor', [
    renderPlan({ steps: [step('a', '1'), step('x', '2'), step('b', '3')] }, ['a', 'b', 'x']),
  ]);
  const result = await stage.solve({ question: 'Who was asked?' });
  expect(result.calls.map(({ worker }) => worker)).toEqual(['conductor', 'b']);
  expect(result).toMatchObject({ usage: { calls: 2 }, costIsLowerBound: false, degraded: true });
  const errors = result.rounds[0]?.steps.map(({ error }) => error?.message);
  expect(errors?.[0]).toContain('NOT_SET');
  expect(errors?.[1]).toBe(
    'no worker process took the call of x in time: start one that polls its task queue',
  );
  expect(await stage.rows(result.id)).toHaveLength(2);
});

test('a fallback stands in after its worker failed permanently, and the trace says for whom and why', async () => {
  stage = await openStage({
    workers: ['a', 'b'],
    configure: (config) => ({
      ...config,
      workers: config.workers.map((worker) => (worker.id === 'a' ? { ...worker, fallback: ['b'] } : worker)),
    }),
  });
  stage.plan([step('a', 'Refused.')]);
  stage.providers.answer('a', { text: '', finish: 'refusal' });
  stage.providers.answer('b', 'the stand-in answers');
  const result = await stage.solve({ question: 'Who stands in?' });
  expect(result).toMatchObject({ status: 'completed', answer: 'the stand-in answers', degraded: true });
  expect(result.rounds[0]?.steps[0]).toMatchObject({
    worker: 'b',
    fallbackFor: 'a',
    error: null,
    skipped: [{ worker: 'a', error: { type: 'Provider.Refused' } }],
  });
  expect(result.calls.map((call) => [call.worker, call.error?.type ?? null])).toEqual([
    ['conductor', null],
    ['a', 'Provider.Refused'],
    ['b', null],
  ]);
});

describe('when the Conductor fails', () => {
  beforeEach(async () => {
    stage = await openStage({ workers: ['a', 'b'] });
    stage.providers.answer('a', 'an answer without a plan');
  });

  test('the first worker answers alone after two repairs, and the run is degraded', async () => {
    stage.providers.answer('conductor', 'I have no idea.');
    const result = await stage.solve({ question: 'What then?' });
    expect(result).toMatchObject({ status: 'completed', answer: 'an answer without a plan', degraded: true });
    expect(result.calls.map(({ purpose }) => purpose)).toEqual(['plan', 'repair', 'repair', 'step']);
    expect(result.rounds[0]?.plan?.steps).toMatchObject([{ worker: 'a', sees: [] }]);
    expect(result.rounds[0]?.error?.type).toBe('Plan.Invalid');
  });

  test("a provider's failure is not repaired like a bad plan, and the run continues without a plan", async () => {
    stage.providers.answer('conductor', { fault: 'gateway-timeout' });
    const result = await stage.solve({ question: 'Is it repaired?' });
    expect(result).toMatchObject({ status: 'completed', degraded: true });
    expect(result.rounds[0]).toMatchObject({ error: { type: 'Provider.Timeout' } });
    expect(result.calls.map(({ purpose, error }) => [purpose, error?.type ?? null])).toEqual([
      ['plan', 'Provider.Timeout'],
      ['plan', 'Provider.Timeout'],
      ['step', null],
    ]);
    const { runs } = await stage.client.list({ taskQueue: stage.taskQueue, known: [result.id] });
    expect(runs.find(({ id }) => id === result.id)?.problems).toEqual([
      expect.stringMatching(/^a stands in for the Conductor: .*answered 504/),
    ]);
  });

  test('it is asked again if a person rejects the stand-in for its plan, and the run is not degraded', async () => {
    stage.providers.script('conductor', ['I have no idea.', 'None.', 'Still none.']);
    stage.plan([step('b', 'Answer it.')]);
    const result = await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question: 'Is it asked again?', approval: 'plan' });
      for await (const { waitsFor, rounds } of stage.client.watch(id)) {
        if (waitsFor === undefined) continue;
        if (rounds[0]?.error === undefined) await stage.client.approvePlan(id);
        else await stage.client.rejectPlan(id, 'That is no plan.');
      }
      return stage.client.trace(id);
    });
    expect(result).toMatchObject({ status: 'completed', degraded: false });
    expect(result.rounds[0]).not.toHaveProperty('error');
  });

  test.each(['unauthorized', 'forbidden', 'not-found', 'quota-exceeded'] as const)(
    'a reason of configuration (%s) ends the run before a worker is paid',
    async (fault) => {
      stage.providers.answer('conductor', { fault });
      const result = await stage.solve({ question: 'Who is paid?' });
      expect(result).toMatchObject({
        status: 'failed',
        answer: null,
        error: { type: 'Configuration.Invalid' },
        calls: [{ purpose: 'plan' }],
      });
      expect(result.error?.message).toMatch(
        /^the Conductor \(openai conductor\) answered 4\d\d: .+ No worker was asked\. "temporal-conductor pool check" tries/,
      );
      expect(stage.providers.log.map(({ model }) => model)).toEqual(['conductor']);
    },
  );

  test('if the worker that stands in fails as well, the run gives both reasons', async () => {
    stage.providers.answer('conductor', { fault: 'bad-request', message: 'the prompt is too long' });
    stage.providers.answer('a', { fault: 'refusal' });
    const result = await stage.solve({ question: 'Why is there none?' });
    expect(result).toMatchObject({ status: 'failed', error: { type: 'Solve.NoAnswer' } });
    expect(result.error?.message).toMatch(
      /plan: the Conductor .*the prompt is too long.*\. step 1: worker a .*declined/,
    );
  });
});
