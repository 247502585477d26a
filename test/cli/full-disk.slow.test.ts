import { join } from 'node:path';
import { CAN_MOUNT, makeDisk, type SmallDisk } from '../support/full-disk';
import { type CommandSetting, type Ended, said } from './command';
import { poolAt } from './folder';
import { PLAN, useStage } from './stage';

const ANSWER = 'The Danube rises in the Black Forest.';

const stage = useStage(
  { boss: { answer: PLAN }, alpha: { answer: ANSWER } },
  // The store lies beside `.conductor`, so that each can be full by itself.
  { configOf: (url) => poolAt(url, { store: 'sqlite:store.db' }), server: 'shared' },
);
const LOST = /the output of this command could not be written \(ENOSPC: no space left on device, write\): /;
const STACK = /\n {4}at /;

const run = (args: readonly string[], files: CommandSetting['files'] = {}): Promise<Ended> =>
  stage.start(args, { files }).ended;
const FULL = '/dev/full';

test.each([[[]], [['--stream']]])(
  'an answer that cannot be printed is kept, and the command fails and says how to read it: solve %j',
  async (options) => {
    const { code, stderr } = await run(['solve', 'Where does the Danube rise?', ...options], {
      stdout: FULL,
    });
    expect({ code, stderr }).toEqual({ code: 1, stderr: said(LOST) });
    expect(stderr).not.toMatch(STACK);
    const [, watch = ''] = /the answer is kept; read it with: temporal-conductor (.*)/.exec(stderr) ?? [];
    expect(await run(watch.split(' '))).toMatchObject({ code: 0, stdout: `${ANSWER}\n` });
    expect(stage.callsOf('alpha')).toBe(1);
  },
);

test('messages that cannot be written stop no run', async () => {
  const solved = await run(['solve', 'Where does the Danube rise?'], { stderr: FULL });
  expect(solved).toMatchObject({ code: 0, stdout: `${ANSWER}\n` });
  expect(await run(['list'], { stderr: FULL })).toMatchObject({
    code: 0,
    stdout: said('Where does the Danube rise?'),
  });
  expect(await run(['list', '--limit', 'few'], { stderr: FULL })).toMatchObject({ code: 2, stdout: '' });
});

test.each([[['--help']], [['key', 'create', 'ci']]])(
  'a command whose output cannot be written fails: %j',
  async (args) => {
    const { code, stderr } = await run(args, { stdout: FULL });
    expect({ code, stderr }).toEqual({ code: 1, stderr: said(LOST) });
    expect(stderr).not.toMatch(STACK);
  },
);

// Skipped where this user may not mount a file system.
(CAN_MOUNT ? describe : describe.skip)('on a full disk', () => {
  let disk: SmallDisk | undefined;
  afterEach(() => {
    disk?.close();
  });
  const fill = (folder: string, room?: number): void => {
    disk = makeDisk(join(stage.folder.path, folder));
    disk.fill(room);
  };

  test('a run goes on without its log, and says so once', async () => {
    fill('.conductor');
    const { code, stdout, stderr } = await run(['solve', 'Where does the Danube rise?']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${ANSWER}\n` });
    expect(stderr).not.toMatch(STACK);
    expect(stderr.match(/worker\.log cannot be written \(ENOSPC.*\n/g)).toHaveLength(1);
  });

  test('an answer of which a file took only a part was not printed', async () => {
    fill('disk', 64 * 1024);
    stage.providers.script('alpha', [{ text: ANSWER.repeat(3_000) }]);
    const stdout = join(stage.folder.path, 'disk', 'answer');
    const { code, stderr } = await run(['solve', 'Where does the Danube rise?'], { stdout });
    expect({ code, stderr }).toEqual({ code: 1, stderr: said(LOST) });
  });

  test('a folder that cannot take its server’s files says so', async () => {
    fill('.conductor');
    const env = { TEMPORAL_ADDRESS: '' };
    const { code, stdout, stderr } = await stage.start(['solve', 'Where does the Danube rise?'], { env })
      .ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).not.toMatch(STACK);
    expect(stderr).toMatch(/no space left on device|disk is full|SQLITE_FULL/);
  });

  test('the list of runs says why it cannot read one', async () => {
    disk = makeDisk(join(stage.folder.path, '.conductor'));
    await stage.folder.write('conductor.yaml', stage.pool({ store: 'sqlite:.conductor/store.db' }));
    const solved = await stage.run('solve', 'Where does the Danube rise?');
    disk.fill();
    const { stdout, stderr } = await stage.run('list');
    expect(solved.code).toBe(0);
    expect(stderr).not.toMatch(STACK);
    expect(stdout).toMatch(/cannot be read here:\n.*(?:SQLITE|ENOSPC)/);
  });
});
