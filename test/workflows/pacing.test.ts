import type { ConfigInput, Retry } from '../../src';
import type { FaultKind } from '../../src/testing/faults';
import { openStage, type Stage, step } from './stage';
import { until, untilTrace } from '../support/until';

/** Replaces keys of worker `id`. */
const onCard =
  (id: string, keys: object) =>
  ({ workers, ...config }: ConfigInput): ConfigInput => ({
    ...config,
    workers: workers.map((card) => (card.id === id ? { ...card, ...keys } : card)),
  });

let stage: Stage;
afterEach(() => stage.close());

describe('calls beyond a limit', () => {
  const retriesOf = (id: string): Promise<Retry[]> =>
    until(
      () => stage.client.retries(id),
      (retries) => retries.length > 0,
    );

  test('wait for a rate without a request, a row or a slot, and say so', async () => {
    stage = await openStage({ workers: ['a'], worker: { rate: { requestsPerMinute: 1 } } });
    stage.plan([step('a', 'One.'), step('a', 'Two.', [0])]);
    await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question: 'How often a minute?' });
      const [retry] = await retriesOf(id);
      expect(retry?.reason).toMatch(
        /^worker a \(openai a\) has reached its limit of 1 requests per minute, counted over all worker processes; no request was sent\. It will be asked in \d+ s\.$/,
      );
      expect(stage.requestsTo('a')).toHaveLength(1);
      expect(await stage.rows(id)).toHaveLength(2);
      await stage.client.cancel(id);
      await untilTrace(stage, id, ({ status }) => status === 'cancelled');
    });
  });

  test('wait for each other, and do not count as attempts', async () => {
    stage = await openStage({ workers: ['a'], worker: { concurrency: 1 } });
    stage.plan([step('a', 'One.'), step('a', 'Two.'), step('a', 'Three.')]);
    const goOn = stage.providers.hold('a');
    const result = await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question: 'One at a time?' });
      await until(
        () => stage.client.retries(id),
        (retries) => retries.length === 2,
      );
      await stage.providers.waitForRequest(({ model }) => model === 'a');
      expect(stage.requestsTo('a')).toHaveLength(1);
      goOn();
      return untilTrace(stage, id, ({ status }) => status === 'completed');
    });

    const requests = stage.requestsTo('a');
    expect(requests).toHaveLength(3);
    for (const [index, { receivedAt }] of requests.entries()) {
      if (index > 0) expect(receivedAt).toBeGreaterThanOrEqual(requests[index - 1]?.respondedAt ?? Infinity);
    }
    expect(result.calls.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
  });
});

describe('a provider that asks for a long wait', () => {
  const HOURS = { fault: 'rate-limited', retryAfter: { ms: 7_200_000, as: 'seconds' } } as const;
  const SECONDS = { fault: 'rate-limited', retryAfter: { ms: 3000, as: 'seconds' } } as const;

  test.each([
    ['of hours, by default', {}, HOURS, "7200 s, over the worker's maxWait of 120 s"],
    ['over its maxWait', { maxWait: '2s' }, SECONDS, "3 s, over the worker's maxWait of 2 s"],
  ])('%s: its fallback is asked at once, however long the run may take', async (_, keys, fault, words) => {
    stage = await openStage({
      workers: ['a', 'b'],
      configure: onCard('a', { fallback: ['b'], ...keys }),
      simulation: { models: { a: { answer: fault } } },
    });
    stage.plan([step('a', 'Is there room?')]);
    const result = await stage.solve({ question: 'Who answers?', limits: { wallClock: '30m' } });
    expect(result.status).toBe('completed');
    expect(result.rounds[0]?.steps[0]).toMatchObject({ worker: 'b', fallbackFor: 'a', error: null });
    expect(stage.requestsTo('a')).toHaveLength(1);
    const [skipped] = result.rounds[0]?.steps[0]?.skipped ?? [];
    expect(skipped).toMatchObject({ worker: 'a', error: { type: 'Provider.RateLimited' } });
    expect(skipped?.error.message).toContain(`It asks for a wait of ${words}: another worker stands in.`);
  });

  test('is waited for if it is short, or if no other worker could answer', async () => {
    stage = await openStage({
      workers: ['a', 'b', 'c'],
      configure: (config) => onCard('c', { maxWait: '1s' })(onCard('a', { fallback: ['b'] })(config)),
    });
    stage.plan([step('a', 'Is there room?'), step('c', 'And here?')]);
    for (const id of ['a', 'c']) stage.providers.script(id, [SECONDS]);
    const result = await stage.solve({ question: 'Who answers?' });
    expect(result).toMatchObject({ status: 'completed', degraded: false });
    for (const id of ['a', 'c']) expect(stage.requestsTo(id)).toHaveLength(2);
    expect(stage.requestsTo('b')).toHaveLength(0);
  });
});

describe('a worker that fails several times in a row', () => {
  const down = { fault: 'unavailable' } as const;

  test('is left alone: its fallback answers without another request, and the trace says why', async () => {
    stage = await openStage({
      workers: ['a', 'b'],
      worker: { circuit: { failures: 2, pause: '1h' } },
      configure: onCard('a', { fallback: ['b'] }),
      simulation: { models: { a: { answer: down } } },
    });
    const [first, second] = await stage.whileWorking(async () => {
      stage.plan([step('a', 'Is it down?')]);
      const one = await stage.client.solve({ question: 'Who answers first?' });
      expect(stage.requestsTo('a')).toHaveLength(2);
      stage.plan([step('a', 'Is it still down?')]);
      return [one, await stage.client.solve({ question: 'Who answers second?' })] as const;
    });

    expect(stage.requestsTo('a')).toHaveLength(2);
    expect(stage.requestsTo('b')).toHaveLength(2);
    for (const { rounds } of [first, second]) {
      expect(rounds[0]?.steps[0]).toMatchObject({
        worker: 'b',
        fallbackFor: 'a',
        error: null,
        skipped: [{ worker: 'a', error: { type: 'Worker.CircuitOpen' } }],
      });
    }
    expect(second.rounds[0]?.steps[0]?.skipped?.[0]?.error.message).toBe(
      'worker a (openai a) failed at least 2 times in a row and is paused; no request was sent. ' +
        'Another worker stands in.',
    );
    // The calls that were sent before the circuit opened are accounted for.
    expect(first.calls.filter(({ worker }) => worker === 'a').map(({ nanoUsd }) => nanoUsd)).toEqual([0, 0]);
  });

  test('is waited for if it has no fallback, and continues when a probe is answered', async () => {
    stage = await openStage({ workers: ['a'], worker: { circuit: { failures: 2, pause: '1s' } } });
    stage.plan([step('a', 'Come back.')]);
    stage.providers.script('a', [down, down, { text: 'back again' }]);
    const result = await stage.solve({ question: 'Does it come back?' });

    expect(result).toMatchObject({ status: 'completed', answer: 'back again', degraded: false });
    expect(stage.requestsTo('a')).toHaveLength(3);
  });

  test('is still asked after refusals and bad requests, or if its circuit is switched off', async () => {
    stage = await openStage({
      workers: ['a', 'b'],
      worker: { circuit: { failures: 1, pause: '1h' } },
      configure: onCard('b', { circuit: false }),
      simulation: { models: { b: { answer: { fault: 'truncated' } } } },
    });
    stage.plan([step('a', 'One.'), step('a', 'Two.', [0]), step('a', 'Three.', [1]), step('b', 'Four.')]);
    stage.providers.script('a', [
      { fault: 'bad-request' },
      { text: '', finish: 'refusal', refusal: 'I would rather not.' },
    ]);
    const result = await stage.solve({ question: 'Is it asked again?' });

    expect(result.rounds[0]?.steps.map(({ error }) => error?.type ?? null)).toEqual([
      'Provider.BadRequest',
      'Provider.Refused',
      null,
      'Provider.Interrupted',
    ]);
    expect(stage.requestsTo('b')).toHaveLength(2);
  });

  test('is asked on, however it answers: no question puts it out of order for others', async () => {
    stage = await openStage({
      workers: ['a'],
      worker: { circuit: { failures: 1, pause: '1h' } },
      config: { limits: { depth: 0, calls: 40 } },
    });
    const faults = [
      'empty',
      'length-without-text',
      'length',
      'failed-midway',
      'cut-mid-body',
      'gateway-timeout',
    ];
    await stage.whileWorking(async () => {
      for (const fault of faults as FaultKind[]) {
        stage.plan([step('a', 'Answer.')]);
        stage.providers.script('a', [{ fault }, { fault }]);
        await stage.client.solve({ question: `What if it is ${fault}?` }).catch(() => undefined);
        stage.plan([step('a', 'Answer.')]);
        stage.providers.script('a', [{ text: 'Eight.' }]);
        const next = await stage.client.solve({ question: `And after ${fault}?` });
        expect([fault, next.answer, next.degraded]).toEqual([fault, 'Eight.', false]);
      }
    });
  });
});
