import { totalOf } from '../../src/trace/cost';
import { openStage, type Stage, step } from './stage';

let stage: Stage;
afterEach(() => stage.close());

test('a Conductor is told what workers cost, if configured so', async () => {
  stage = await openStage({
    workers: ['a', 'b'],
    configure: (config) => ({
      ...config,
      conductor: { ...config.conductor, describe: 'notes+price' } as typeof config.conductor,
    }),
  });
  stage.plan([step('a', 'Answer it.')]);
  expect(await stage.solve({ question: 'Why?' })).toMatchObject({ status: 'completed', degraded: false });
  expect(stage.requestsTo('conductor')[0]?.body).toContain('0: $2 in, $10 out per million tokens');
});

describe('the cost that a run reports', () => {
  test('is the sum of its ledger to the nano-dollar, whatever went wrong on the way', async () => {
    stage = await openStage({
      workers: ['a', 'b', 'c', 'd'],
      configure: (config) => ({
        ...config,
        // Prices per token that are not whole nano-USD, so that rounding errors would show.
        workers: config.workers.map((worker) => {
          const price = { input: 0.0123, output: 0.4567, cachedInput: 0.0011 };
          const fallback = worker.id === 'c' ? { fallback: ['d'] } : {};
          return { ...worker, price, ...fallback } as typeof worker;
        }),
      }),
    });
    stage.providers.script('conductor', ['no plan at all']);
    stage.plan([
      step('a', 'Wait.'),
      step('b', 'Buy again.'),
      step('c', 'Refuse.'),
      step('a', 'Sum up.', [0, 1, 2]),
    ]);
    stage.providers.script('a', [
      { fault: 'rate-limited', retryAfter: { ms: 1, as: 'milliseconds' } },
      { text: 'at last', usage: { inputTokens: 1001, outputTokens: 333, cachedInputTokens: 77 } },
    ]);
    stage.providers.script('b', [{ text: 'too lo', finish: 'length' }, 'long enough']);
    stage.providers.script('c', [{ text: '', finish: 'refusal', refusal: 'No.' }]);
    const result = await stage.solve({ question: 'What does it cost?' });
    const rows = await stage.rows(result.id);
    const ids = (calls: readonly { callId: string; attempt: number }[]): string[] =>
      calls.map(({ callId, attempt }) => `${callId}/${attempt}`).sort();
    expect(ids(result.calls)).toEqual(ids(rows));
    expect(rows.filter(({ error }) => error !== null).map(({ error }) => error?.type)).toEqual(
      expect.arrayContaining(['Provider.RateLimited', 'Provider.Truncated', 'Provider.Refused']),
    );
    expect(result.calls.map(({ purpose }) => purpose)).toContain('repair');
    expect(rows.map(({ worker }) => worker)).toContain('d');

    const nanoUsd = rows.reduce((sum, row) => sum + (row.nanoUsd ?? NaN), 0);
    expect(nanoUsd).toBeGreaterThan(0);
    expect(totalOf(result.calls).costUsd).toBe(nanoUsd / 1e9);
    expect(result).toMatchObject({ costUsd: nanoUsd / 1e9, costIsLowerBound: false });
    expect(rows.every(({ rootId }) => rootId === result.id)).toBe(true);
  });
});

describe("Anthropic's cache", () => {
  const LONG = `What follows from this? ${'All the words of a long question. '.repeat(300)}`;
  const price = { input: 2, output: 10, cachedInput: 0.2, cacheWrite: 2.5 };

  const openAnthropic = async (prices: object, layout = 'tagged'): Promise<void> => {
    stage = await openStage({
      workers: ['a', 'b'],
      simulation: { models: { a: { price }, b: { price } } },
      configure: (config, url) => ({
        ...config,
        workers: config.workers.map((worker) => ({
          ...worker,
          provider: 'anthropic' as const,
          baseUrl: url,
          price: prices,
          layout,
        })) as typeof config.workers,
      }),
    });
    stage.plan([
      step('a', 'Draft.'),
      step('a', 'Draft another way.'),
      step('b', 'Find mistakes.', [0, 1]),
      step('a', 'Mend them.', [0, 2]),
    ]);
  };
  const solveLong = () => stage.whileWorking(() => stage.client.solve({ question: LONG }));

  test("keeps the question for a worker's later steps, unchanged in text, and each part has its price", async () => {
    await openAnthropic(price);
    const result = await solveLong();
    const rows = (await stage.rows(result.id)).filter(({ purpose }) => purpose === 'step');
    const of = (index: number) => rows.find(({ step }) => step === index);
    const written = of(0)?.usage?.cacheWriteTokens ?? 0;
    expect(written).toBeGreaterThan(2500);
    expect(of(1)?.usage).not.toHaveProperty('cacheWriteTokens');
    expect(of(2)?.usage).not.toHaveProperty('cacheWriteTokens');
    expect(of(3)?.usage).toMatchObject({ cachedInputTokens: written });
    expect(of(0)?.savedNanoUsd).toBe(-500 * written);
    expect(of(3)?.savedNanoUsd).toBe(1800 * written);
    const asked = stage.providers.log.filter(({ protocol }) => protocol === 'anthropic');
    const billed = asked.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? NaN), 0);
    expect(rows.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? NaN), 0)).toBe(billed);
  });

  test.each(['tagged', 'chat'])('keeps a conversation with layout %s', async (layout) => {
    await openAnthropic(price, layout);
    const messages = [
      { role: 'user', content: LONG },
      { role: 'assistant', content: 'Nothing.' },
      { role: 'user', content: 'Why?' },
    ] as const;
    const { id } = await stage.whileWorking(() => stage.client.solve({ messages }));
    const rows = await stage.rows(id);
    const of = (index: number) => rows.find(({ step }) => step === index);
    expect(of(0)?.usage?.cacheWriteTokens).toBeGreaterThan(2500);
    expect(of(3)?.usage?.cachedInputTokens).toBe(of(0)?.usage?.cacheWriteTokens);
    // The cache mark comes after the whole conversation.
    const { body = '' } = stage.requestsTo('a')[0] ?? {};
    expect(body.split('cache_control')[1]).not.toContain('long question');
  });

  test('is not used if the price of writing to it is unknown', async () => {
    await openAnthropic({ input: 2, output: 10, cachedInput: 0.2 });
    await solveLong();
    const asked = stage.providers.log.filter(({ protocol }) => protocol === 'anthropic');
    expect(asked).toHaveLength(4);
    expect(asked.map(({ body }) => body).join()).not.toContain('cache_control');
  });
});
