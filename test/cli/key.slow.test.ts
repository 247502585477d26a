import { KeyChecker, listKeys, noteAudit } from '../../src/gateway/access';
import { DayBudgets } from '../../src/gateway/access/day-budget';
import { openStore } from '../../src/store/open-store';
import type { Store } from '../../src';
import { endedWith, said } from './command';
import { poolAt } from './folder';
import { useFolder } from './stage';

const stage = useFolder();

beforeEach(() => stage.folder.write('conductor.yaml', poolAt('http://127.0.0.1:9')));

const store = (): Store => openStore('sqlite:.conductor/store.db', stage.folder.path);

async function createKey(...args: readonly string[]): Promise<string> {
  const { code, stdout } = await stage.run('key', 'create', ...args);
  expect(code).toBe(0);
  return stdout.trim();
}

test('a key is created, listed without its digest and revoked, and the log records it', async () => {
  const made = await stage.run(
    'key',
    'create',
    'ci',
    '--usd-per-day',
    '5',
    '--models',
    'conductor, worker/*',
  );
  expect(made).toMatchObject(endedWith(0, 'Its secret is shown only once'));
  expect(made.stdout).toMatch(/^sk-tc-[0-9a-z]{10}-[\w-]{43}\n$/);
  expect(made.stderr).not.toContain(made.stdout.trim());
  const secret = made.stdout.trim();
  const key = await new KeyChecker(store()).check(secret);
  const { id = '', digest = '' } = key ?? {};
  expect(key).toMatchObject({ name: 'ci', isAdmin: false, usdPerDay: 5, models: ['conductor', 'worker/*'] });

  const listed = await stage.run('key', 'list');
  expect(listed.stdout).toBe(
    `✓ ci  ${id} · conductor, worker/* · $5.00 a day, today $0.00 spent and $0.00 reserved · never expires\n`,
  );
  expect((await stage.run('key', 'list', '--json')).stdout).not.toContain(digest);

  expect(await stage.run('key', 'revoke', 'ci')).toMatchObject(endedWith(0, `Revoked key ci (${id})`));
  expect(await new KeyChecker(store()).check(secret)).toBeNull();
  expect((await stage.run('key', 'list')).stdout).toMatch(/^✗ ci .* · revoked \d{4}-/);

  const log = (await stage.run('key', 'log')).stdout.trim().split('\n');
  expect(log).toEqual([
    said(new RegExp(`^\\d{4}-\\S+Z · command line · key\\.create · ${id} · \\{"name":"ci"\\}$`)),
    said(new RegExp(`^\\d{4}-\\S+Z · command line · key\\.revoke · ${id} · `)),
  ]);
});

test('JSON shows all of a key but its digest, and what it has spent and holds today', async () => {
  const args = ['ops', '--admin', '--requests-per-minute', '60', '--expires', '2999-12-31', '--json'];
  const made = JSON.parse(await createKey(...args, '--usd-per-day', '2')) as Record<string, unknown>;
  const { secret, ...shown } = made;
  expect(await new KeyChecker(store()).check(String(secret))).toMatchObject(shown);
  expect(shown).toEqual({
    id: said(/^[0-9a-z]{10}$/),
    name: 'ops',
    isAdmin: true,
    models: null,
    usdPerDay: 2,
    requestsPerMinute: 60,
    createdAt: said(/Z$/),
    expiresAt: '2999-12-31T23:59:59.999Z',
    revokedAt: null,
  });
  const [key] = await listKeys(store());
  if (key === undefined) throw new Error('there is no key');
  const budgets = new DayBudgets(store(), () => Promise.resolve(null));
  const trace = { status: 'completed', costUsd: 0.25, costIsLowerBound: false } as const;
  await budgets.reserve(key, 'gw-1', 5e8);
  await budgets.settle(key, 'gw-1', trace);
  await budgets.reserve(key, 'gw-2', 1e9);
  const listed = JSON.parse((await stage.run('key', 'list', '--json')).stdout) as unknown;
  const today = { spentTodayUsd: 0.25, spentTodayIsLowerBound: false, unknownTodayUsd: 0, heldTodayUsd: 1 };
  expect(listed).toEqual([{ ...shown, ...today }]);
  expect((await stage.run('key', 'list')).stdout).toMatch(
    /\$2\.00 a day, today \$0\.2500 spent and \$1\.00 reserved · 60 requests a minute · admin · expires 2999-/,
  );
  await budgets.settle(key, 'gw-2', { ...trace, costIsLowerBound: true });
  expect((await stage.run('key', 'list')).stdout).toContain(
    'today at least $0.5000 spent, $0.7500 counted for calls of unknown cost and $0.00 reserved',
  );
});

test('--expires takes a number of days', async () => {
  await createKey('ci', '--expires', '90d');
  const [key] = await listKeys(store());
  const days = (Date.parse(key?.expiresAt ?? '') - Date.parse(key?.createdAt ?? '')) / 86_400_000;
  expect(days).toBeCloseTo(90, 2);
});

test('the log prints the actions of keys, without terminal controls, or as JSON', async () => {
  const entry = { keyId: '0123456789', keyName: 'c\u001b[2Ji', action: 'start', target: 'gw-x' } as const;
  await noteAudit(store(), entry);
  expect((await stage.run('key', 'log')).stdout).toMatch(/Z · c \[2Ji \(0123456789\) · start · gw-x\n$/);
  const { stdout } = await stage.run('key', 'log', '--since', '2026-01-01', '--json');
  expect(JSON.parse(stdout)).toEqual([{ ...entry, at: said(/Z$/) }]);
  const none = await stage.run('key', 'log', '--since', '2999-01-01');
  expect(none).toMatchObject({ ...endedWith(0, 'No changes since 2999-01-01'), stdout: '' });
});

test('without keys, the list says how to create one', async () => {
  expect(await stage.run('key', 'list')).toMatchObject({ ...endedWith(0, 'key create NAME'), stdout: '' });
});

test.each([
  [['create', ''], /Expected a name of 1 to 64 bytes/],
  [['create', 'x', '--models', 'wor*er'], /Expected names of models/],
  [['create', 'x', '--models', 'a,,b'], /Expected names of models/],
  [['create', 'x', '--usd-per-day', '-1'], /Expected an amount of USD from 0 to/],
  [['create', 'x', '--requests-per-minute', '0'], /Expected a whole number from 1 to 60000/],
  [['create', 'x', '--expires', '2020-01-01'], /Expected a number of days such as 90d, or a last day/],
  [['create', 'x', '--expires', '2999-02-30'], /Expected a number of days/],
  [['create', 'x', '--expires', '0d'], /Expected a number of days/],
  [['revoke'], /missing required argument/],
  [['log', '--since', 'yesterday'], /Expected a date/],
])('key %j is refused', async (args, reason) => {
  expect(await stage.run('key', ...args)).toMatchObject(endedWith(2, reason));
});
