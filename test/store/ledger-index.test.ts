import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { updateIndex, type UpdateOptions, withLedgerIndex } from '../../src/store/cost-index';
import { type CostGroup, type CostReport, readDay, sumCosts } from '../../src/store/costs';
import { FileStore } from '../../src/store/file-store';
import { type LedgerRow, writeRow } from '../../src/store/ledger';

/** A store that tells which keys were read. */
class WatchedStore extends FileStore {
  readonly reads: string[] = [];

  override async read(key: string): Promise<Buffer | null> {
    this.reads.push(key);
    return super.read(key);
  }
}

let folder: string;
let store: WatchedStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ledger-'));
  store = new WatchedStore(join(folder, 'store'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

let sequence = 0;

function aRow(changes: Partial<LedgerRow> = {}): LedgerRow {
  sequence += 1;
  return {
    callId: sequence.toString(16).padStart(64, '0'),
    rootId: 'solve-1',
    workflowId: 'solve-1',
    runId: 'run-1',
    purpose: 'step',
    round: 0,
    step: 0,
    attempt: 1,
    worker: 'ada',
    model: 'm-1',
    error: null,
    usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 },
    nanoUsd: 1000,
    priceVersion: 'card',
    startedAt: '2026-11-21T10:00:00.000Z',
    endedAt: '2026-11-21T10:00:01.000Z',
    ...changes,
  };
}

const OPEN = { usage: null, nanoUsd: null, endedAt: null };

async function keep(...rows: LedgerRow[]): Promise<void> {
  for (const row of rows) await writeRow(store, row);
}

interface Asked extends UpdateOptions {
  readonly by?: CostGroup;
  readonly since?: string;
  readonly until?: string;
}

function report({ by = 'worker', since, until, ...options }: Asked = {}): Promise<CostReport> {
  const day = (name: string) => readDay(name, 'utc') ?? undefined;
  return withLedgerIndex(store, join(folder, 'index'), async (index) => {
    await updateIndex(index, store, options);
    const [first, last] = [since && day(since), until && day(until)];
    return sumCosts(index, { by, zone: 'utc', ...(first && { since: first }), ...(last && { until: last }) });
  });
}

const indexFile = async (): Promise<string> => {
  const [name = ''] = (await readdir(join(folder, 'index'))).filter((file) => file.endsWith('.sqlite'));
  return join(folder, 'index', name);
};

test('an empty ledger has no lines, and a sum of nothing', async () => {
  expect(await report()).toEqual({
    by: 'worker',
    lines: [],
    total: { name: 'total', calls: 0, open: 0, unknown: 0, inputTokens: 0, outputTokens: 0, nanoUsd: 0 },
  });
});

test('sums by worker and by model, the dearest first', async () => {
  await keep(aRow(), aRow({ worker: 'bob', nanoUsd: 5000 }), aRow({ nanoUsd: 500, model: 'm-2' }));
  expect(await report()).toMatchObject({
    lines: [
      { name: 'bob', calls: 1, inputTokens: 10, outputTokens: 5, nanoUsd: 5000 },
      { name: 'ada', calls: 2, inputTokens: 20, outputTokens: 10, nanoUsd: 1500 },
    ],
    total: { name: 'total', calls: 3, inputTokens: 30, outputTokens: 15, nanoUsd: 6500 },
  });
  expect((await report({ by: 'model' })).lines.map(({ name }) => name)).toEqual(['m-1', 'm-2']);
});

test('a workflow is a whole tree; a row of an earlier version is one of its own', async () => {
  const { rootId, ...early } = aRow({ workflowId: 'solve-2', runId: 'run-2' });
  expect(rootId).toBe('solve-1');
  await keep(aRow(), aRow({ workflowId: 'solve-1-child', runId: 'run-3' }), early);
  expect((await report({ by: 'workflow' })).lines).toMatchObject([
    { name: 'solve-1', calls: 2 },
    { name: 'solve-2', calls: 1 },
  ]);
});

test('days are in order and each begins at its midnight; since and until belong to it', async () => {
  const at = (startedAt: string) => aRow({ startedAt });
  await keep(
    at('2026-11-22T00:00:00.000Z'),
    at('2026-11-21T23:59:59.999Z'),
    at('2026-11-20T00:00:00.000Z'),
    at('2026-11-19T23:59:59.999Z'),
  );
  const days = async (asked: Asked) =>
    (await report({ by: 'day', ...asked })).lines.map(({ name, calls }) => `${name} ${calls}`);
  expect(await days({})).toEqual(['2026-11-19 1', '2026-11-20 1', '2026-11-21 1', '2026-11-22 1']);
  expect(await days({ since: '2026-11-20', until: '2026-11-21' })).toEqual(['2026-11-20 1', '2026-11-21 1']);
  expect(await days({ since: '2026-11-23' })).toEqual([]);
  expect((await report({ until: '2026-11-20' })).total.calls).toBe(2);
});

test('open rows and unknown costs are counted, and known as such', async () => {
  await keep(aRow(), aRow(OPEN), aRow({ nanoUsd: null }));
  expect((await report()).total).toMatchObject({ calls: 3, open: 1, unknown: 2, nanoUsd: 1000 });
});

test('amounts that no floating point sum would hold add up exactly', async () => {
  const rows = Array.from({ length: 30 }, (_, index) => aRow({ nanoUsd: 100_000_000_000_001 + index }));
  await keep(...rows);
  expect((await report()).total.nanoUsd).toBe(rows.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0));
});

test('only new rows and open ones are read again', async () => {
  const open = aRow(OPEN);
  await keep(aRow(), aRow(), open);
  await report();
  expect(store.reads).toHaveLength(3);

  store.reads.length = 0;
  await keep({ ...open, nanoUsd: 7, endedAt: '2026-11-21T11:00:00.000Z' }, aRow());
  const counts: number[] = [];
  const { total } = await report({ onRows: (count) => counts.push(count) });
  expect(store.reads).toHaveLength(2);
  expect(counts).toEqual([2]);
  expect(total).toMatchObject({ calls: 4, open: 0, unknown: 0, nanoUsd: 3007 });

  store.reads.length = 0;
  await report();
  expect(store.reads).toEqual([]);
});

test('rows that are no longer in the store are not in the index either', async () => {
  await keep(aRow(), aRow({ worker: 'bob' }));
  await report();
  await rm(join(folder, 'store'), { recursive: true });
  await keep(aRow({ worker: 'eve' }));
  expect((await report()).lines.map(({ name }) => name)).toEqual(['eve']);
});

test.each([
  ['removed', (file: string) => rm(file)],
  ['no database', (file: string) => writeFile(file, 'not a database '.repeat(1000))],
  ['empty', (file: string) => writeFile(file, '')],
])('an index that is %s is made anew', async (_, spoil) => {
  await keep(aRow());
  await report();
  const file = await indexFile();
  await spoil(file);
  expect((await report()).total.calls).toBe(1);
});

test('an index of another version is made anew', async () => {
  await keep(aRow());
  await withLedgerIndex(store, join(folder, 'index'), (index) => {
    index.exec('DROP TABLE request; PRAGMA user_version = 99');
    return Promise.resolve();
  });
  expect((await report()).total.calls).toBe(1);
});

test('two commands at once make one index', async () => {
  await keep(...Array.from({ length: 600 }, () => aRow()));
  await mkdir(join(folder, 'index'));
  const reports = await Promise.all([report(), report(), report()]);
  expect(reports.map(({ total }) => total.calls)).toEqual([600, 600, 600]);
});

test('each store has an index of its own', async () => {
  await keep(aRow());
  await report();
  store = new WatchedStore(join(folder, 'another'));
  expect((await report()).total.calls).toBe(0);
});

test('an index holds no key of the store where other ids are asked for', async () => {
  const row = aRow();
  await keep(row);
  expect((await report({ idOf: (key) => `row-${key.length}` })).total.calls).toBe(1);
  const files = await readdir(join(folder, 'index'));
  const bytes = await Promise.all(files.map((file) => readFile(join(folder, 'index', file), 'latin1')));
  expect(bytes.join('')).toContain('row-');
  expect(bytes.join('')).not.toContain(row.callId);
});
