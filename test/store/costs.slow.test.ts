import { readEncryptionKeys } from '../../src/encryption/key-ring';
import { type CostReport, readDay, sumCosts } from '../../src/store/costs';
import { EncryptedStore } from '../../src/store/encrypted-store';
import { type LedgerRow, writeRow } from '../../src/store/ledger';
import type { Store } from '../../src';
import type { CostGroup, CalendarDay } from '../../src/store/store';
import { openStore } from '../../src/store/open-store';
import { keyRing } from '../encryption/test-keys';
import { freshStore } from '../local/fresh-folder';
import { HAS_POSTGRES, PostgresServer } from '../support/postgres-server';
import { aRow, OPEN } from '../support/ledger-of';

let store: Store;
beforeEach(async () => (store = await freshStore()));

let sequence = 0;

function nextRow(changes: Partial<LedgerRow> = {}): LedgerRow {
  sequence += 1;
  const times = { startedAt: '2026-11-21T10:00:00.000Z', endedAt: '2026-11-21T10:00:01.000Z' };
  const callId = sequence.toString(16).padStart(64, '0');
  return aRow({ callId, worker: 'ada', model: 'm-1', nanoUsd: 1000, ...times, ...changes });
}

async function keep(...rows: LedgerRow[]): Promise<void> {
  for (const row of rows) await writeRow(store, row);
}

interface Asked {
  readonly by?: CostGroup;
  readonly since?: string;
  readonly until?: string;
  readonly from?: Store;
}

function report({ by = 'worker', since, until, from = store }: Asked = {}): Promise<CostReport> {
  const day = (name = ''): CalendarDay | undefined => readDay(name, 'utc') ?? undefined;
  return sumCosts(from, { by, zone: 'utc', since: day(since), until: day(until) });
}

let server: PostgresServer | undefined;
let schemas = 0;
afterAll(() => server?.close());

async function postgresStore(): Promise<Store> {
  server ??= await PostgresServer.start();
  const summing = openStore(server.url({ schema: `ledger_${(schemas += 1)}` }), '/');
  await summing.migrate?.();
  return summing;
}

const WAYS = ['read row by row', 'summed by SQLite', ...(HAS_POSTGRES ? ['summed by PostgreSQL'] : [])];

describe.each(WAYS)('a ledger that is %s', (how) => {
  beforeEach(async () => {
    if (how === 'read row by row') store = new EncryptedStore(store, keyRing('costs'));
    if (how === 'summed by PostgreSQL') store = await postgresStore();
  });

  test('has no lines and a total of zero if it is empty', async () => {
    for (const by of ['worker', 'day'] as const) {
      expect(await report({ by })).toMatchObject({ lines: [], total: { calls: 0, nanoUsd: 0 } });
    }
  });

  test('is summed by worker and by model, the most expensive first', async () => {
    await keep(nextRow(), nextRow({ worker: 'bob', nanoUsd: 5000 }), nextRow({ nanoUsd: 500, model: 'm-2' }));
    expect(await report()).toMatchObject({
      lines: [
        { name: 'bob', calls: 1, inputTokens: 10, outputTokens: 5, nanoUsd: 5000 },
        { name: 'ada', calls: 2, inputTokens: 20, outputTokens: 10, nanoUsd: 1500 },
      ],
      total: { name: 'total', calls: 3, inputTokens: 30, outputTokens: 15, nanoUsd: 6500 },
    });
    expect((await report({ by: 'model' })).lines.map(({ name }) => name)).toEqual(['m-1', 'm-2']);
  });

  test('counts a workflow together with all its children', async () => {
    await keep(nextRow(), nextRow({ workflowId: 'solve-1-child', runId: 'run-3' }));
    await keep(nextRow({ rootId: 'solve-2', workflowId: 'solve-2', runId: 'run-2' }));
    expect((await report({ by: 'workflow' })).lines).toMatchObject([
      { name: 'solve-1', calls: 2 },
      { name: 'solve-2', calls: 1 },
    ]);
  });

  test('is summed by key, and by worker within each day', async () => {
    const late = '2026-11-21T23:59:59.999Z';
    await keep(nextRow({ rootId: 'gw-0123456789-a' }), nextRow({ rootId: 'gw-0123456789-b', nanoUsd: 5000 }));
    await keep(nextRow({ rootId: 'gw-short-a' }), nextRow({ startedAt: late, worker: 'bob the second' }));
    expect((await report({ by: 'key' })).lines).toMatchObject([
      { name: '0123456789', calls: 2, nanoUsd: 6000 },
      { name: 'no key', calls: 2 },
    ]);
    await keep(nextRow({ startedAt: '2026-11-22T00:00:00.000Z' }));
    expect((await report({ by: 'day-worker' })).lines).toMatchObject([
      { name: '2026-11-21 ada', calls: 3 },
      { name: '2026-11-21 bob the second', calls: 1 },
      { name: '2026-11-22 ada', calls: 1 },
    ]);
  });

  test('is summed by tool and what came of its calls, without the calls of models', async () => {
    const of = (model: string, type?: string): LedgerRow => {
      const error = type === undefined ? null : { type, message: 'it failed' };
      return nextRow({
        callId: `tool.0.1.ada.1.${(sequence += 1)}`,
        purpose: 'tool',
        model,
        error,
        usage: null,
      });
    };
    await keep(nextRow(), of('shelf.order'), of('shelf.order'), of('shelf.order', 'Tool.Failed'));
    await keep({ ...of('shelf.order'), startedAt: '2026-11-20T10:00:00.000Z' });
    expect((await report({ by: 'tool', since: '2026-11-21' })).lines).toMatchObject([
      { name: 'shelf.order ok', calls: 2, nanoUsd: 2000 },
      { name: 'shelf.order Tool.Failed', calls: 1, nanoUsd: 1000 },
    ]);
    expect((await report({ by: 'model' })).total.calls).toBe(5);
  });

  test('lists days in order, each from midnight, and includes the days of since and until', async () => {
    const at = (startedAt: string) => nextRow({ startedAt });
    await keep(at('2026-11-22T00:00:00.000Z'), at('2026-11-21T23:59:59.999Z'));
    await keep(at('2026-11-20T00:00:00.000Z'), at('2026-11-19T23:59:59.999Z'));
    const days = async (asked: Asked) =>
      (await report({ by: 'day', ...asked })).lines.map(({ name, calls }) => `${name} ${calls}`);
    expect(await days({})).toEqual(['2026-11-19 1', '2026-11-20 1', '2026-11-21 1', '2026-11-22 1']);
    const both = { since: '2026-11-20', until: '2026-11-21' };
    expect(await days(both)).toEqual(['2026-11-20 1', '2026-11-21 1']);
    expect(await days({ since: '2026-11-23' })).toEqual([]);
    expect((await report({ until: '2026-11-20' })).total.calls).toBe(2);
  });

  test('adds up what caches saved, and what they cost extra', async () => {
    await keep(nextRow(), nextRow({ savedNanoUsd: 900 }), nextRow({ savedNanoUsd: -300 }));
    expect((await report()).total).toMatchObject({ nanoUsd: 3000, savedNanoUsd: 600 });
    expect((await report({ by: 'day' })).total.savedNanoUsd).toBe(600);
  });

  test('adds up amounts exactly, beyond the precision of floating point', async () => {
    const rows = Array.from({ length: 30 }, (_, index) => nextRow({ nanoUsd: 100_000_000_000_001 + index }));
    await keep(...rows);
    expect((await report()).total.nanoUsd).toBe(rows.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0));
  });

  test('counts a row as completed once it is no longer open', async () => {
    const open = nextRow(OPEN);
    await keep(nextRow(), nextRow({ nanoUsd: null }), open);
    expect((await report()).total).toMatchObject({ calls: 3, open: 1, unknown: 2, nanoUsd: 1000 });
    await keep({ ...open, nanoUsd: 7, endedAt: '2026-11-21T11:00:00.000Z' });
    expect((await report()).total).toMatchObject({ calls: 3, open: 0, unknown: 1, nanoUsd: 1007 });
  });

  test('ignores entries that are not rows', async () => {
    await keep(nextRow());
    await store.write('answers/00/1.json', Buffer.from(JSON.stringify(nextRow())));
    await store.write('ledger-of-old/1.json', Buffer.from(JSON.stringify(nextRow())));
    expect((await report()).total.calls).toBe(1);
  });
});

test('progress is reported while rows are read one by one', async () => {
  const encrypted = new EncryptedStore(store, keyRing('costs'));
  for (let count = 0; count < 30; count += 1)
    await writeRow(encrypted, nextRow({ runId: `run-${count % 7}` }));
  const counts: number[] = [];
  const told = await sumCosts(encrypted, { by: 'day', zone: 'utc' }, (count) => counts.push(count));
  expect(told.total.calls).toBe(30);
  expect(counts).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
});

test('a row opened and completed under different encryption keys is counted once, as completed', async () => {
  const [old, new_] = [1, 2].map((byte) => `k${byte}:${Buffer.alloc(32, byte).toString('base64')}`);
  const under = (keys: string): Store =>
    new EncryptedStore(store, readEncryptionKeys('KEYS', { KEYS: keys }));
  const row = nextRow();
  await writeRow(under(`${old},${new_}`), { ...row, ...OPEN });
  await writeRow(under(`${new_},${old}`), row);
  expect(await store.list('ledger/')).toHaveLength(2);
  const { total } = await report({ from: under(`${new_},${old}`) });
  expect(total).toMatchObject({ calls: 1, open: 0, nanoUsd: 1000 });
});

test.each(['2026-02-30', '2025-02-29', '26-01-01', '2026-1-1', 'today', '', '2026-11-21T00:00'])(
  '%p is not a date',
  (name) => {
    expect(readDay(name, 'utc')).toBeNull();
    expect(readDay(name, 'local')).toBeNull();
  },
);

test('a date is a day from midnight to midnight, across months and leap days', () => {
  const days = ['2028-02-28', '2028-02-29', '2028-03-01'].map((name) => readDay(name, 'utc'));
  expect(days.map((day) => day?.begins)).toEqual([
    '2028-02-28T00:00:00.000Z',
    '2028-02-29T00:00:00.000Z',
    '2028-03-01T00:00:00.000Z',
  ]);
  expect(days.slice(1).map((day) => day?.begins)).toEqual(days.slice(0, -1).map((day) => day?.ends));
});
