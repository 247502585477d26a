import { totalOf } from '../../src/trace/reduce';
import { openStage, type Stage, step } from '../support/stage';

describe('what a run says it cost', () => {
  let stage: Stage;
  afterEach(async () => {
    await stage.close();
  });

  test('is the sum of its ledger to the nano-dollar, whatever went wrong on the way', async () => {
    stage = await openStage({
      workers: ['a', 'b', 'c', 'd'],
      configure: (config) => ({
        ...config,
        // A rate that makes no whole nano-dollar of a token, so that rounding would show.
        workers: config.workers.map((worker) => ({
          ...worker,
          price: { input: 0.0123, output: 0.4567, cachedInput: 0.0011 },
          ...(worker.id === 'c' && { fallback: ['d'] }),
        })),
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

    const result = await stage.whileWorking(() => stage.client.solve({ question: 'What does it cost?' }));

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

  test('is at least the known part, where an answer was lost that may have been billed', async () => {
    stage = await openStage({ workers: ['a', 'b'] });
    stage.plan([step('a', 'Cut off.'), step('b', 'Answer.')]);
    stage.providers.script('a', [{ fault: 'truncated' }, { fault: 'truncated' }]);

    const result = await stage.whileWorking(() => stage.client.solve({ question: 'What is unknown?' }));

    const rows = await stage.rows(result.id);
    const lost = rows.filter(({ worker }) => worker === 'a');
    expect(lost.map(({ nanoUsd }) => nanoUsd)).toEqual([null, null]);
    const known = rows.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0);
    expect(result).toMatchObject({ costUsd: known / 1e9, costIsLowerBound: true });
  });
});
