import { ApplicationFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { ModelCall } from '../../../src/activities/send-request';
import { createPacing } from '../../../src/activities';
import { resolveBaselines } from '../../../src/config/cards';
import { parseConfig } from '../../../src/config/load';
import { resolveRun } from '../../../src/config/resolve-run';
import { openStore } from '../../../src/store/open-store';
import type { Store } from '../../../src';
import { freshFolder } from '../../local/fresh-folder';
import { readLedger } from '../../support/ledger-of';
import { aCall } from '../models/ask';
import { anActivity, attempt, Provider } from '../one-call';

const model = { provider: 'local', model: 'm' } as const;

const config = parseConfig({
  conductor: { provider: 'local', model: 'planner' },
  conductors: { next: { provider: 'local', model: 'next', rate: { requestsPerMinute: 1 } } },
  baselines: [{ id: 'giant', provider: 'local', model: 'giant', rate: { requestsPerMinute: 1 } }],
  workers: [
    { id: 'quick', ...model, rate: { requestsPerMinute: 5 }, circuit: { failures: 3 } },
    { id: 'slow', ...model, rate: { requestsPerMinute: 2, tokensPerMinute: 1000 }, circuit: { failures: 1 } },
    { id: 'free', provider: 'local', model: 'other' },
  ],
});

type Changes = Partial<Pick<ModelCall, 'card' | 'maxOutputTokens' | 'hasFallback'>>;

/** Returns a worker's call with 400 bytes of prompt (100 tokens) and at most 100 tokens of output. */
function callOf(id: string, changes: Changes = {}): ModelCall {
  const card = resolveRun(config).workers.find((worker) => worker.id === id);
  if (card?.kind !== 'model') throw new Error(`no model ${id}`);
  const messages = [{ role: 'user', text: 'x'.repeat(400) } as const];
  return aCall(card, { messages, maxOutputTokens: 100, ...changes });
}

const gates = () => createPacing(config, {});

/** Stops the clock and removes all jitter. */
beforeEach(() => {
  jest.spyOn(performance, 'now').mockReturnValue(0);
  jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  jest.restoreAllMocks();
});

async function refusalOf(enter: () => Promise<unknown>): Promise<ApplicationFailure> {
  const failure = await new MockActivityEnvironment().run(enter).catch((error: unknown) => error);
  if (failure instanceof ApplicationFailure) return failure;
  throw new Error('the call was let through, or failed otherwise', { cause: failure });
}

describe('the gates of a process', () => {
  test('are shared by all cards of a model, and the strictest card applies', async () => {
    const pacing = gates();
    await pacing(callOf('quick'), []);
    await pacing(callOf('slow'), []);
    expect(await refusalOf(() => pacing(callOf('quick'), []))).toMatchObject({
      type: 'Worker.Throttled',
      nonRetryable: false,
      nextRetryDelay: 61_500,
      message:
        'worker quick (local m) has reached its limit of 2 requests or 1000 tokens per minute, counted over this process; ' +
        'no request was sent. It will be asked in 62 s.',
    });
  });

  test('also apply to further Conductors and baselines', async () => {
    const [giant] = resolveBaselines(config);
    if (giant?.kind !== 'model') throw new Error('no baseline');
    const next = { ...giant, ...resolveRun(config, { conductor: { name: 'next' } }).conductor };
    for (const card of [giant, next]) {
      const pacing = gates();
      await pacing(callOf('quick', { card }), []);
      expect(await refusalOf(() => pacing(callOf('quick', { card }), []))).toMatchObject({
        type: 'Worker.Throttled',
      });
    }
  });

  test('count the estimated prompt and the maximum output before a call', async () => {
    const pacing = gates();
    await pacing(callOf('slow', { maxOutputTokens: 801 }), []);
    expect((await refusalOf(() => pacing(callOf('slow'), []))).type).toBe('Worker.Throttled');
    const other = gates();
    await other(callOf('slow', { maxOutputTokens: 700 }), []);
    await other(callOf('slow'), []);
  });

  test('do not limit models without a rate or from another configuration', async () => {
    const pacing = gates();
    for (let calls = 0; calls < 50; calls += 1) await pacing(callOf('free'), []);
    const { card } = callOf('free');
    const elsewhere = callOf('free', { card: { ...card, model: 'of another configuration' } });
    expect(await pacing(elsewhere, [])).toHaveProperty('release');
  });

  test('make calls wait for a failing model, unless another worker can stand in', async () => {
    const pacing = gates();
    (await pacing(callOf('slow'), [])).release({ tokens: null, health: 'bad' });
    expect(await refusalOf(() => pacing(callOf('slow'), []))).toMatchObject({
      type: 'Worker.CircuitOpen',
      nonRetryable: false,
      nextRetryDelay: 30_000,
    });
    const failure = await refusalOf(() => pacing(callOf('slow', { hasFallback: true }), []));
    expect(failure).toMatchObject({ type: 'Worker.CircuitOpen', nonRetryable: true });
    expect(failure.nextRetryDelay).toBeUndefined();
    expect(failure.details).toMatchObject([{ calls: [] }]);
  });

  test('let no limited call through while the database that counts is down, and say so', async () => {
    const pacing = createPacing(config, openStore('sqlite:/dev/null/store.db', '/'));
    await pacing(callOf('free'), []);
    expect(await refusalOf(() => pacing(callOf('quick'), []))).toMatchObject({
      type: 'Store.Unavailable',
      nonRetryable: false,
      message: expect.stringMatching(
        /^cannot check the rate limit of worker quick \(local m\), so no request was sent: sqlite:.* cannot be opened/,
      ) as string,
      details: [{ calls: [] }],
    });
  });

  test('stop a call whose room may have gone to others while its process was frozen', async () => {
    const database = openStore('sqlite:store.db', await freshFolder());
    const store: Store = Object.create(database, { rates: { value: undefined } }) as Store;
    const provider = new Provider();
    const ada = { id: 'ada', provider: 'local', model: 'sim-1', rate: { requestsPerMinute: 1 } } as const;
    const limited = parseConfig({ conductor: { provider: 'local', model: 'other' }, workers: [ada] });
    let time = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => (time += 40_000));
    const pacing = createPacing(limited, store);
    expect(await refusalOf(() => attempt(store, provider.complete, anActivity(), pacing))).toMatchObject({
      type: 'Worker.Throttled',
      nonRetryable: false,
    });
    expect(provider.bought).toBe(0);
    expect(await readLedger(store)).toMatchObject([{ nanoUsd: 0, error: { type: 'Worker.Throttled' } }]);
  });
});
