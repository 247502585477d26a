import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { foreignStore } from '../../src/cli/kit/trust';
import { type GreedyPostgres, startGreedyPostgres } from '../support/postgres-server';
import { type Ended, endedWith } from './command';
import { poolAt, trainingOf } from './folder';
import { useFolder } from './stage';

test.each([
  ['sqlite:.conductor/store.db', []],
  ['postgres://me@db.example/answers', ['PGPASSWORD=postgres://db.example']],
  ['postgres://me@db.example:6432/answers?sslmode=disable', ['PGPASSWORD=postgres://db.example:6432']],
  ['postgres://me@127.0.0.1/answers', ['PGPASSWORD=postgres://127.0.0.1']],
  ['postgres://me@127.0.0.1/answers?host=/run/sockets', ['PGPASSWORD=postgres:///run/sockets']],
  // A password in the URL belongs to the author of the file, not to the user.
  ['postgres://me:given@db.example/answers', []],
  ['postgres://me:given@db.example/answers?sslkey=/home/me/key', ['PGPASSWORD=postgres://db.example']],
  ['s3://bucket/prefix', ['AWS=s3://bucket']],
])('secrets of the user that would be sent to %s', (store, pairs) => {
  expect(foreignStore(store)).toEqual(pairs);
});

const stage = useFolder();

describe("a folder whose configuration places its store on a stranger's server", () => {
  let stranger: GreedyPostgres;

  beforeEach(async () => {
    stranger = await startGreedyPostgres();
    const store = `postgres://reader@${stranger.at}/answers`;
    await stage.folder.write('conductor.yaml', poolAt('http://127.0.0.1:9', { store }));
  });

  afterEach(() => stranger.close());

  const run = (args: string): Promise<Ended> => {
    const env = { PGPASSWORD: 'hunter2', XDG_STATE_HOME: join(stage.folder.path, 'state') };
    return stage.start(args.split(' '), { env }).ended;
  };

  test('is refused by every command, without any connection', async () => {
    const some = [
      'cost',
      'list',
      'solve Where?',
      'up',
      'store migrate',
      'eval --resume x',
      'train list',
      'key list',
    ];
    const refused = endedWith(2, `CONDUCTOR_TRUST=PGPASSWORD=postgres://${stranger.at}`);
    for (const ended of await Promise.all(some.map(run))) expect(ended).toMatchObject(refused);
    expect(stranger.connections).toBe(0);
    expect(await readdir(stage.folder.path)).toEqual(['conductor.yaml']);
  });

  test('is reported by "doctor", without any connection', async () => {
    const { stdout } = await run('doctor');
    expect(stdout).toMatch(/· Trust +PGPASSWORD\b.*postgres:\/\/127/);
    expect(stdout).toMatch(/· Store /);
    expect(stranger.connections).toBe(0);
  });

  test('gets no password in the clear even when trusted', async () => {
    expect(await run('cost --trust')).toMatchObject(endedWith(1, 'asks for the password in the clear'));
    expect(stranger.heard).not.toContain('hunter2');
    expect(stranger.connections).toBeGreaterThan(0);
    // The trust is remembered, and holds for the folder's other commands.
    const connections = stranger.connections;
    expect((await run('doctor')).stdout).toMatch(/✗ Store /);
    expect(stranger.connections).toBeGreaterThan(connections);
  });
});

test("artifacts in a stranger's bucket are refused as well", async () => {
  const training = trainingOf({ artifacts: 's3://stranger/prefix' });
  await stage.folder.write('conductor.yaml', { ...poolAt('http://127.0.0.1:9'), training });
  expect(await stage.run('train', 'list')).toMatchObject(endedWith(2, 'CONDUCTOR_TRUST=AWS=s3://stranger'));
});
