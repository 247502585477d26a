import { HAS_POSTGRES, POSTGRES_PASSWORD, PostgresServer } from '../support/postgres-server';
import type { Ended } from './command';
import { poolAt } from './folder';
import { PLAN, useStage } from './stage';

const stage = useStage({ boss: { answer: PLAN }, alpha: { answer: 'It is.' } });
let said: string;
beforeEach(() => {
  said = '';
});

const useStore = (store: string): Promise<void> =>
  stage.folder.write('conductor.yaml', poolAt(stage.providers.url, { store }));

const run = async (args: string, env: Record<string, string> = {}): Promise<Ended> => {
  const ended = await stage.start(args.split(' '), { env }).ended;
  said += ended.stdout + ended.stderr;
  return ended;
};

test.each([
  ['sqlite:store.db', 'needs no migration.'],
  ['s3://bucket', 'needs no migration.'],
])('there is nothing to migrate in %s', async (store, said) => {
  await useStore(store);
  const { code, stdout } = await run('store migrate --trust');
  expect(stdout).toMatch(/^There is nothing to do: /);
  expect(stdout.trim()).toMatch(new RegExp(`${said}$`));
  expect(code).toBe(0);
});

(HAS_POSTGRES ? describe : describe.skip)('a store in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.close());

  test('must be migrated before it is used, and never shows its password', async () => {
    await useStore(server.url());
    const remedy = 'has no schema yet: run "temporal-conductor store migrate"';
    for (const command of ['cost', 'doctor', 'solve Hm?', 'worker']) {
      const { code, stdout, stderr } = await run(command, { TEMPORAL_ADDRESS: '127.0.0.1:9' });
      expect(`${command}: ${stdout}${stderr}`).toContain(remedy);
      expect(code).not.toBe(0);
    }
    expect((await run('store migrate')).stdout).toMatch(/^Made the schema of postgres:\S+: version 1\.\n$/);
    expect((await run('store migrate')).stdout).toMatch(/^There is nothing to do: .* is of version 1\.\n$/);
    expect((await run('cost')).stderr).toContain('No calls in the ledger of postgres://tests@127.0.0.1');
    expect((await run('solve Hm?')).stdout).toBe('It is.\n');
    const up = await stage.startReady(['up']);
    said += (await up.end('SIGINT')).stderr;
    expect(said).toMatch(/Store +postgres:\/\/tests@127/);
    expect(said).not.toContain(POSTGRES_PASSWORD);

    // The password need not be in the configuration.
    await useStore(server.url({ user: 'tests' }));
    const { stdout } = await run('cost --json --trust', { PGPASSWORD: POSTGRES_PASSWORD });
    expect(JSON.parse(stdout)).toMatchObject({ total: { calls: 2 } });
  });
});
