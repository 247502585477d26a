import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import type { Complete } from '../../src/activities/models';
import type { CallProgress } from '../../src/protocol/activity-contract';
import { FAILURES } from '../../src/protocol/failures';
import { keepAnswer } from '../../src/store/ledger';
import { SqliteStore } from '../../src/store/sqlite-store';
import { freshFolder } from '../local/fresh-folder';
import { readLedger } from '../support/ledger-of';
import { anActivity, attempt, Provider, usage } from './one-call';

/** A store that runs `trouble` before each write. */
class TroubledStore extends SqliteStore {
  constructor(
    folder: string,
    private readonly trouble: (key: string, content: string) => Promise<void> | void,
  ) {
    super(join(folder, 'store.db'));
  }

  override async write(key: string, bytes: Uint8Array): Promise<void> {
    await this.trouble(key, Buffer.from(bytes).toString());
    await super.write(key, bytes);
  }

  override async createWith(
    ...[key, bytes, others]: Parameters<SqliteStore['createWith']>
  ): Promise<boolean> {
    for (const [each, content] of [[key, bytes] as const, ...others]) {
      await this.trouble(each, Buffer.from(content).toString());
    }
    return super.createWith(key, bytes, others);
  }
}

/** A store that counts its reads, listings and commits. */
class CountingStore extends SqliteStore {
  looks = 0;
  commits = 0;

  override stat(key: string): ReturnType<SqliteStore['stat']> {
    this.looks += 1;
    return super.stat(key);
  }

  override write(key: string, bytes: Uint8Array): Promise<void> {
    this.commits += 1;
    return super.write(key, bytes);
  }

  override createWith(...entries: Parameters<SqliteStore['createWith']>): Promise<boolean> {
    this.commits += 1;
    return super.createWith(...entries);
  }

  override list(prefix: string): Promise<string[]> {
    this.looks += 1;
    return super.list(prefix);
  }

  override read(key: string): Promise<Buffer | null> {
    this.looks += 1;
    return super.read(key);
  }
}

let folder: string;
let provider: Provider;
beforeEach(async () => {
  folder = await freshFolder();
  provider = new Provider();
});

test.each(['texts/', 'answers/', 'ledger/'])(
  'heartbeats continue while the store stalls on the %s of an answer',
  async (place) => {
    const activity = anActivity({ heartbeatTimeoutMs: 20 });
    let beats = 0;
    const threeBeats = new Promise<void>((resolve) => {
      activity.on('heartbeat', () => {
        if ((beats += 1) >= 3) resolve();
      });
    });
    const store = new TroubledStore(folder, (key) =>
      provider.bought > 0 && key.startsWith(place) ? threeBeats : undefined,
    );
    await attempt(store, provider.complete, activity);
    expect(beats).toBeGreaterThanOrEqual(3);
    expect(provider.bought).toBe(1);
  },
);

test('what the store refuses after an answer is retried until it is written', async () => {
  const refused = new Set<string>();
  const store = new TroubledStore(folder, (key) => {
    const [place = ''] = key.split('/');
    if (provider.bought === 0 || refused.has(place)) return;
    refused.add(place);
    throw new Error('no space left on device');
  });
  const { calls } = await attempt(store, provider.complete);
  expect([...refused].sort()).toEqual(['answers', 'ledger', 'texts']);
  expect(calls).toMatchObject([{ attempt: 1, usage }]);
  const endedAt: unknown = expect.any(String);
  expect(await readLedger(store)).toMatchObject([{ attempt: 1, usage, endedAt }]);
  expect(provider.bought).toBe(1);
});

describe('a store that is lost while a model answers', () => {
  const path = (): string => join(folder, 'store.db');
  const damage = async (): Promise<void> => {
    // Another process's write drops the pages that this one holds.
    const other = new Database(path(), { timeout: 30_000 });
    other.exec("INSERT INTO rates VALUES ('other', 1, '{}')");
    other.pragma('wal_checkpoint(TRUNCATE)');
    other.close();
    await writeFile(path(), 'no database '.repeat(10_000));
  };

  test.each([
    ['was deleted', () => rm(path()), 'was deleted or replaced'],
    ['is damaged', damage, 'is damaged or not a SQLite database'],
  ])('ends the attempt at once, for another one to go on, if it %s', async (_, lose, sentence) => {
    const complete: Complete = async (request) => {
      await lose();
      return provider.complete(request);
    };
    await expect(attempt(new SqliteStore(path()), complete)).rejects.toMatchObject({
      type: FAILURES.storeUnavailable,
      nonRetryable: false,
      message: expect.stringContaining(sentence) as string,
    });
    expect(provider.bought).toBe(1);
  });
});

test('a call that waits for its store says so in its heartbeats and in the log, until the store takes its answer', async () => {
  const log: string[] = [];
  const activity = anActivity({ heartbeatTimeoutMs: 20, log });
  const reason = 'no space left on device';
  let refusals = 0;
  let isAway = true;
  const store = new TroubledStore(folder, async (key) => {
    // The rest of a cut answer is stored after its row. By the next heartbeat, the call no longer waits.
    if (!isAway && key.startsWith('texts/')) {
      const [after] = (await once(activity, 'heartbeat')) as [CallProgress];
      expect(after.waitsForStore).toBeUndefined();
    }
    if (!isAway || provider.bought === 0) return;
    refusals += 1;
    throw new Error(reason);
  });
  const cut: Complete = async (request) => ({ ...(await provider.complete(request)), finish: 'length' });
  activity.on('heartbeat', ({ waitsForStore }: CallProgress) => {
    if (waitsForStore === reason && refusals > 2) isAway = false;
  });
  await attempt(store, cut, activity).catch(() => undefined);
  expect(log).toEqual([`a paid answer waits until the store takes it: ${reason}`, 'Activity failed']);
  expect.assertions(2);
});

test('a refusal is also booked once the store recovers', async () => {
  let refusals = 0;
  const store = new TroubledStore(folder, (_, content) => {
    if (provider.bought === 0 || !content.includes('Provider.Refused')) return;
    if ((refusals += 1) < 3) throw new Error('no space left on device');
  });
  const refuses: Complete = async (request) => ({ ...(await provider.complete(request)), finish: 'refusal' });
  await expect(attempt(store, refuses)).rejects.toMatchObject({ type: 'Provider.Refused' });
  expect(await readLedger(store)).toMatchObject([{ usage, endedAt: expect.any(String) as string }]);
});

test("a store that never recovers ends the call with its error when the run's time is up", async () => {
  const store = new TroubledStore(folder, (key) => {
    if (key.startsWith('answers/')) throw new Error('no space left on device');
  });
  await expect(attempt(store, provider.complete, anActivity({ seconds: 3 }))).rejects.toThrow(
    'no space left on device',
  );
  expect(provider.bought).toBe(1);
});

test('two live attempts of one call have a row each, and both return the answer that was kept first', async () => {
  const [bothOpen, bothAsked] = [meeting(2), meeting(2)];
  const store = new TroubledStore(folder, (key) => (key.startsWith('ledger/') ? bothOpen() : undefined));
  const complete: Complete = async (request) => {
    await bothAsked();
    return provider.complete(request);
  };
  const [one, other] = await Promise.all([1, 2].map(() => attempt(store, complete)));
  expect(provider.bought).toBe(2);
  const rows = await readLedger(new SqliteStore(join(folder, 'store.db')));
  expect(rows.map(({ attempt }) => attempt).sort()).toEqual([1, 2]);
  expect(rows).toMatchObject([{ usage }, { usage }]);
  expect(one?.output).toEqual(other?.output);
});

test('an attempt that fails returns the answer that another attempt kept, and leaves its row intact', async () => {
  const store = new SqliteStore(join(folder, 'store.db'));
  const fails: Complete = async (request) => {
    const [row] = await readLedger(store);
    if (row === undefined) throw new Error('a request was sent before its row was opened');
    const paid = { ...row, usage, nanoUsd: 70_000, endedAt: row.startedAt };
    await keepAnswer(store, { output: 'Yes.', cut: true, dropped: [], row: paid });
    return { ...(await provider.complete(request)), finish: 'refusal' };
  };
  const calls = [{ attempt: 1, nanoUsd: 70_000 }];
  expect(await attempt(store, fails)).toMatchObject({ output: 'Yes.', cut: true, calls });
  expect(await readLedger(store)).toMatchObject([{ error: null, usage, nanoUsd: 70_000 }]);
});

test('a first attempt does not query the store before its request', async () => {
  const store = new CountingStore(join(folder, 'store.db'));
  const complete: Complete = (request) => {
    expect(store.looks).toBe(0);
    return provider.complete(request);
  };
  await attempt(store, complete);
  expect(provider.bought).toBe(1);
});

test('a call takes two commits: its row, and its answer with what belongs to it', async () => {
  const store = new CountingStore(join(folder, 'store.db'));
  await attempt(store, provider.complete);
  expect({ looks: store.looks, commits: store.commits }).toEqual({ looks: 0, commits: 2 });
});

/** Returns a barrier: callers wait until `size` of them have come, and later ones pass. */
function meeting(size: number): () => Promise<void> {
  let come = 0;
  let open = (): void => undefined;
  const all = new Promise<void>((resolve) => (open = resolve));
  return () => {
    if ((come += 1) >= size) open();
    return all;
  };
}

describe('an answer that breaks off in mid-stream', () => {
  const BROKEN = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });

  test('keeps the text received so far, at an unknown cost', async () => {
    const store = new SqliteStore(join(folder, 'store.db'));
    const complete: Complete = ({ onText }) => {
      for (const text of ['Half of', ' an answer']) onText?.(text);
      return Promise.reject(BROKEN);
    };
    await expect(attempt(store, complete)).rejects.toMatchObject({
      type: FAILURES.interrupted,
      nonRetryable: true,
      details: [{ partial: 'Half of an answer', calls: [{ usage: null, nanoUsd: null }] }],
    });
  });

  test('reports in its heartbeats how much was written', async () => {
    const store = new SqliteStore(join(folder, 'store.db'));
    const activity = anActivity({ heartbeatTimeoutMs: 20 });
    const complete: Complete = async (request) => {
      request.onText?.('1234567890');
      const [details] = (await once(activity, 'heartbeat')) as unknown[];
      expect(details).toEqual({ writtenCharacters: 10 });
      return provider.complete(request);
    };
    await attempt(store, complete, activity);
    expect.assertions(1);
  });
});

test.each([
  ['stalls', () => new Promise<void>(() => undefined)],
  ['refuses', () => Promise.reject(new Error('no space left on device'))],
])('a live log that %s neither delays a call nor loses its answer', async (_, append) => {
  const asked = jest.fn(append);
  const store = Object.assign(new SqliteStore(join(folder, 'store.db')), { append: asked });
  const complete: Complete = async (request) => {
    for (let count = 0; count < 5; count += 1) request.onText?.('x'.repeat(2000));
    return provider.complete(request);
  };
  const { output } = await attempt(store, complete);
  expect(JSON.stringify(output)).toContain('answer 1');
  expect(asked).toHaveBeenCalled();
});
