import { readEncryptionKeys } from '../../src/encryption/key-ring';
import { type LedgerRow, writeRow } from '../../src/store/ledger';
import { openStore } from '../../src/store/open-store';
import { aRow } from '../support/ledger-of';
import { type Ended, endedWith } from './command';
import { poolAt } from './folder';
import { useFolder } from './stage';

const stage = useFolder({ TZ: 'UTC' });

beforeEach(() => stage.folder.write('conductor.yaml', poolAt('http://127.0.0.1:9')));

const cost = (args: readonly string[] = [], env: Record<string, string> = {}): Promise<Ended> =>
  stage.start(['cost', ...args], { env }).ended;

let sequence = 0;

function nextRow(changes: Partial<LedgerRow> = {}): LedgerRow {
  sequence += 1;
  const callId = sequence.toString(16).padStart(64, 'c');
  const usage = { inputTokens: 1000, outputTokens: 200, cachedInputTokens: 0, reasoningTokens: 0 };
  const times = { startedAt: '2026-11-21T10:00:00.000Z', endedAt: '2026-11-21T10:00:01.000Z' };
  return aRow({ callId, worker: 'alpha', model: 'm-1', usage, nanoUsd: 4_000_000, ...times, ...changes });
}

async function keep(changes: Partial<LedgerRow>): Promise<void> {
  await writeRow(openStore('sqlite:.conductor/store.db', stage.folder.path), nextRow(changes));
}

test('an empty ledger is reported as empty, without a server', async () => {
  const empty = endedWith(0, 'No calls in the ledger of sqlite:.conductor/store.db.');
  expect(await cost()).toMatchObject({ ...empty, stdout: '' });
});

test('prints the costs by day, and unknown costs as "at least"', async () => {
  await keep({});
  await keep({ startedAt: '2026-11-22T10:00:00.000Z', nanoUsd: null, usage: null, endedAt: null });
  const { code, stdout } = await cost();
  expect(stdout.split('\n').slice(0, 5)).toEqual([
    'day         calls  input  output              cost',
    '2026-11-21      1  1,000     200           $0.0040',
    '2026-11-22      1      0       0  at least $0.0000',
    '──────────────────────────────────────────────────',
    'total           2  1,000     200  at least $0.0040',
  ]);
  expect(code).toBe(0);
});

test('days follow the time zone, or UTC with --utc, even when clocks change', async () => {
  // New York put its clocks forward on 2026-03-08 and back on 2026-11-01: days of 23 and of 25 hours.
  const times = ['2026-03-09T03:59:59.999Z', '2026-03-09T04:00:00.000Z', '2026-11-02T04:59:59.999Z'];
  for (const startedAt of times) await keep({ startedAt });
  const days = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await cost(['--csv', ...args], { TZ: 'America/New_York' });
    return stdout
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.slice(0, 12));
  };
  expect(await days()).toEqual(['2026-03-08,1', '2026-03-09,1', '2026-11-01,1']);
  expect(await days('--utc')).toEqual(['2026-03-09,2', '2026-11-02,1']);
  expect(await days('--since', '2026-03-09', '--until', '2026-11-01')).toEqual([
    '2026-03-09,1',
    '2026-11-01,1',
  ]);
});

test('prints JSON that adds up', async () => {
  await keep({ worker: 'beta' });
  await keep({ worker: 'alpha', nanoUsd: 1_000_000 });
  const { stdout } = await cost(['--by', 'worker', '--json', '--since', '2026-11-01']);
  expect(JSON.parse(stdout)).toEqual({
    by: 'worker',
    since: '2026-11-01',
    until: null,
    timeZone: 'UTC',
    lines: [
      expect.objectContaining({ name: 'beta', calls: 1, costUsd: 0.004, costIsLowerBound: false }),
      expect.objectContaining({ name: 'alpha', calls: 1, costUsd: 0.001, costIsLowerBound: false }),
    ],
    total: expect.objectContaining({
      name: 'total',
      calls: 2,
      nanoUsd: 5_000_000,
      costUsd: 0.005,
    }) as unknown,
  });
});

test('an encrypted store is summed like any other', async () => {
  const text = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
  const keys = readEncryptionKeys('COST_KEYS', { COST_KEYS: text });
  await stage.folder.write(
    'conductor.yaml',
    poolAt('http://127.0.0.1:9', { encryption: { keyEnv: 'COST_KEYS' } }),
  );
  await writeRow(openStore('sqlite:.conductor/store.db', stage.folder.path, { keys }), nextRow());

  const { stdout } = await cost(['--csv'], { COST_KEYS: text });
  expect(stdout).toContain('2026-11-21,1,0,0,1000,200,0.004000000');
});

test.each([
  [['--since', '2026-02-30'], /'--since <date>' argument '2026-02-30' is invalid\. Expected a date, e\.g\./],
  [['--since', '2026-03-01', '--until', '2026-02-01'], /--since 2026-03-01 lies after --until 2026-02-01/],
  [['--by', 'moon'], /Allowed choices are day, worker, workflow, model/],
  [['--csv', '--json'], /cannot be used with/],
])('%p is refused', async (args, reason) => {
  expect(await cost(args)).toMatchObject(endedWith(2, reason));
});
