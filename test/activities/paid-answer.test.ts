import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createActivities } from '../../src/activities';
import type { Complete } from '../../src/activities/models/model';
import { backgroundOpenAI } from '../../src/activities/models/openai';
import { createPacing } from '../../src/activities/rate-limits/pacing';
import { parseConfig } from '../../src/config/load';
import type { WorkerResult } from '../../src/protocol/activities';
import { CALL_WORKER } from '../../src/protocol/names';
import { FileStore } from '../../src/store/file-store';
import type { Store } from '../../src/store/store';
import { readLedger } from '../support/ledger-of';
import { aCard } from './models/ask';

/** A store in which something happens before each write. */
class TroubledStore extends FileStore {
  constructor(
    folder: string,
    private readonly trouble: (key: string, content: string) => Promise<void> | void,
  ) {
    super(folder);
  }

  override async write(key: string, bytes: Uint8Array): Promise<void> {
    await this.trouble(key, Buffer.from(bytes).toString());
    await super.write(key, bytes);
  }

  override async create(key: string, bytes: Uint8Array): Promise<boolean> {
    await this.trouble(key, Buffer.from(bytes).toString());
    return super.create(key, bytes);
  }
}

let folder: string;
let bought: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paid-'));
  bought = 0;
});
afterEach(() => rm(folder, { recursive: true }));

const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 };

/** Each answer has its own number, and is too long for a history. */
const answers: Complete = () => {
  bought += 1;
  const text = `answer ${bought} `.repeat(1000);
  return Promise.resolve({ text, finish: 'stop', refusal: null, usage, reportedNanoUsd: null, dropped: [] });
};

const config = parseConfig({
  conductor: { provider: 'local', model: 'sim-1' },
  workers: [{ id: 'ada', provider: 'local', model: 'sim-1' }],
});

function call(
  store: Store,
  activity: MockActivityEnvironment,
  complete: Complete = answers,
): Promise<WorkerResult> {
  const activities = createActivities({
    config,
    store,
    complete,
    background: backgroundOpenAI,
    pacing: createPacing(config),
    env: {},
  });
  const place = { rootId: 'w', question: 'Why?', subtask: 'Answer.', sees: [], round: 0, step: 0 };
  const allowance = { requests: 5, billable: 2 };
  const ask = (): Promise<WorkerResult> =>
    activities[CALL_WORKER]({ ...place, worker: aCard({ provider: 'local', apiKeyEnv: null }), allowance });
  return activity.run<[], WorkerResult, typeof ask>(ask);
}

/** An activity with seconds left of its run. */
function anActivity({ seconds = 600, heartbeatTimeoutMs = 60_000 } = {}): MockActivityEnvironment {
  return new MockActivityEnvironment({
    heartbeatTimeoutMs,
    scheduledTimestampMs: Date.now(),
    scheduleToCloseTimeoutMs: seconds * 1000,
  });
}

test.each(['texts/', 'answers/', 'ledger/'])(
  'heartbeats go on while the store stalls on the %s of an answer',
  async (place) => {
    const activity = anActivity({ heartbeatTimeoutMs: 20 });
    let beats = 0;
    const threeBeats = new Promise<void>((resolve) => {
      activity.on('heartbeat', () => {
        if ((beats += 1) >= 3) resolve();
      });
    });
    const store = new TroubledStore(folder, (key) =>
      bought > 0 && key.startsWith(place) ? threeBeats : undefined,
    );
    await call(store, activity);
    expect(beats).toBeGreaterThanOrEqual(3);
    expect(bought).toBe(1);
  },
);

test('what a store does not take after an answer is written again until it does', async () => {
  const refused = new Set<string>();
  const store = new TroubledStore(folder, (key) => {
    const [place = ''] = key.split('/');
    if (bought === 0 || refused.has(place)) return;
    refused.add(place);
    throw new Error('no space left on device');
  });
  const { calls } = await call(store, anActivity());
  expect([...refused].sort()).toEqual(['answers', 'ledger', 'texts']);
  expect(calls).toMatchObject([{ attempt: 1, usage }]);
  expect(await readLedger(store)).toMatchObject([
    { attempt: 1, usage, endedAt: expect.any(String) as string },
  ]);
  expect(bought).toBe(1);
});

test('a refusal, too, is booked by a store that comes back', async () => {
  let refusals = 0;
  const store = new TroubledStore(folder, (_, content) => {
    if (bought === 0 || !content.includes('Provider.Refused')) return;
    if ((refusals += 1) < 3) throw new Error('no space left on device');
  });
  const refuses: Complete = async (request) => ({ ...(await answers(request)), finish: 'refusal' });
  await expect(call(store, anActivity(), refuses)).rejects.toMatchObject({ type: 'Provider.Refused' });
  expect(await readLedger(store)).toMatchObject([{ usage, endedAt: expect.any(String) as string }]);
});

test("a store that never comes back ends the call with the run's time, and says why", async () => {
  const store = new TroubledStore(folder, (key) => {
    if (key.startsWith('answers/')) throw new Error('no space left on device');
  });
  await expect(call(store, anActivity({ seconds: 1 }))).rejects.toThrow('no space left on device');
  expect(bought).toBe(1);
});

test('two live attempts of one call have a row each, and the answer that was kept first is the answer of both', async () => {
  const [bothListed, bothAsked] = [meeting(2), meeting(2)];
  const store = new FileStore(folder);
  const list = store.list.bind(store);
  store.list = async (prefix) => {
    const keys = await list(prefix);
    await bothListed();
    return keys;
  };
  const complete: Complete = async (request) => {
    await bothAsked();
    return answers(request);
  };
  const [one, other] = await Promise.all([1, 2].map(() => call(store, anActivity(), complete)));
  expect(bought).toBe(2);
  const rows = await readLedger(new FileStore(folder));
  expect(rows.map(({ attempt }) => attempt).sort()).toEqual([1, 2]);
  expect(rows).toMatchObject([{ usage }, { usage }]);
  expect(one?.output).toEqual(other?.output);
});

/** Lets its callers go on once so many have come; later ones pass. */
function meeting(size: number): () => Promise<void> {
  let come = 0;
  let open = (): void => undefined;
  const all = new Promise<void>((resolve) => (open = resolve));
  return () => {
    if ((come += 1) >= size) open();
    return all;
  };
}
