import { once } from 'node:events';
import { mkdir, open, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { tryLock } from 'fs-native-extensions';
import { type ChildProgram, runChild } from '../../research/support/programs';
import type { TemporalServer } from '../../src/local/configured-server';
import { findTemporalCli } from '../../src/local/downloads';
import {
  embeddedServer,
  isUpHere,
  readLastWord,
  runningServer,
  stopServer,
} from '../../src/local/embedded-server';
import { holderOf, withFolderLock } from '../../src/local/file-lock';
import { until, untilGone } from '../support/until';
import { fakeProgram } from './fake-program';
import { freshFolder } from './fresh-folder';

const children: ChildProgram[] = [];
const servers: TemporalServer[] = [];
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

/** Starts a command in its own process, ready to use the folder's server. */
const command = async (
  folder: string,
  role = 'solve',
  more: NodeJS.ProcessEnv = {},
): Promise<ChildProgram> => {
  const program = join(__dirname, 'programs', 'use-server.ts');
  const child = runChild(program, [folder, role], { ...process.env, ...more });
  children.push(child);
  expect(await child.nextMessage()).toBe('ready');
  return child;
};

/** Lets a command attach, and returns what it reports about the server. */
const begin = async (child: ChildProgram): Promise<{ address: string }> => {
  child.tell('begin');
  return (await child.nextMessage()) as { address: string };
};

/** Attaches this process to the folder's server, as a command does. */
const attach = async (folder: string, more: NodeJS.ProcessEnv = {}) => {
  const server = await embeddedServer({ folder, env: { ...process.env, ...more }, say: () => undefined });
  servers.push(server);
  return { server };
};

/** Source that a command names for a server that another one started. */
const RUNNING = expect.stringContaining('the server running in') as string;

const pidOf = async (folder: string) => (await runningServer(folder))?.pid;

const leave = async (child: ChildProgram): Promise<void> => {
  child.tell('leave');
  expect(await child.ended()).toBe(0);
};

test('two commands started at once in one folder share a server, which the last one to leave stops', async () => {
  const folder = await freshFolder();
  const [one, other] = await Promise.all([command(folder), command(folder)]);
  const seen = await Promise.all([begin(one), begin(other)]);

  const { address } = seen[0];
  const started = { address, source: expect.not.stringContaining('running in') as string };
  expect(seen).toEqual(expect.arrayContaining([started, { address, source: RUNNING }]));
  const pid = await pidOf(folder);
  expect(pid).toBeGreaterThan(0);
  await leave(one);
  expect(await pidOf(folder)).toBe(pid);
  await leave(other);
  expect(await runningServer(folder)).toBeNull();
});

test('a command that stays offers its server to later commands, until it is killed', async () => {
  const folder = await freshFolder();
  const isUp = (): Promise<boolean> => isUpHere(folder, () => undefined);
  const up = await command(folder, 'up');
  await begin(up);
  expect((await attach(folder)).server.source).toEqual(RUNNING);
  expect(await isUp()).toBe(true);
  await up.kill();
  expect(await isUp()).toBe(false);
});

test('a server whose starter was killed is used, and then stopped, by the next command', async () => {
  const folder = await freshFolder();
  const starter = await command(folder);
  const { address } = await begin(starter);
  const pid = await pidOf(folder);
  await starter.kill();

  const { server } = await attach(folder);
  expect(server).toMatchObject({ address, source: RUNNING });
  expect(await pidOf(folder)).toBe(pid);
  await server.stop();
  expect(await runningServer(folder)).toBeNull();
});

test('a server whose starter was killed right after starting it can be stopped', async () => {
  const folder = await freshFolder();
  const script =
    'case $1 in --version) echo "temporal version 1.0.0";; *) kill -9 $PPID; exec sleep 60;; esac';
  const cli = join(await fakeProgram('temporal', script), 'temporal');
  const starter = await command(folder, 'solve', { TEMPORAL_CLI_PATH: cli });
  starter.tell('begin');
  await starter.ended();
  const pid = await pidOf(folder);
  await stopServer(folder);
  await untilGone(Number(pid));
});

test('a server whose ports are taken is started on others', async () => {
  const folder = await freshFolder();
  const { server: before } = await attach(folder);
  await before.stop();
  const port = Number(before.address.split(':')[1]);
  const other = createServer().listen(port, '127.0.0.1');
  // If another program was faster, the port is taken as well.
  await once(other, 'listening').catch(() => undefined);
  expect((await attach(folder)).server.address).not.toBe(before.address);
  other.close();
});

test.each([
  'listen tcp 127.0.0.1:1: bind: address already in use',
  'panic: runtime error: invalid memory address or nil pointer dereference',
])('a server that ends with "%s" is started again once', async (words) => {
  const folder = await freshFolder();
  const { path: cli } = await findTemporalCli({ env: process.env, say: () => undefined });
  const first = `echo "${words}"; exit 1`;
  const script = `case $1 in server) [ -e tried ] || { touch tried; ${first}; };; esac; exec "${cli}" "$@"`;
  const hindered = join(await fakeProgram('temporal', script), 'temporal');
  const { server } = await attach(folder, { TEMPORAL_CLI_PATH: hindered });
  await withClient(server, (client) => client.workflowService.getSystemInfo({}));
  expect(await readFile(join(folder, 'server.log'), 'utf8')).toContain(words);
});

test('a database that another server has open is left alone', async () => {
  const folder = await freshFolder();
  const { server } = await attach(folder);
  await rename(join(folder, 'server.json'), join(folder, 'elsewhere.json'));
  await expect(attach(folder)).rejects.toThrow(/database is locked.* set TEMPORAL_ADDRESS to it/);
  await rename(join(folder, 'elsewhere.json'), join(folder, 'server.json'));
  await withClient(server, (client) => client.workflowService.getSystemInfo({}));
});

test('a command waits, and says so, while another prepares the server, until the other is killed', async () => {
  const folder = await freshFolder();
  const cli = join(await fakeProgram('temporal', 'exec sleep 15'), 'temporal');
  const first = await command(folder, 'solve', { TEMPORAL_CLI_PATH: cli });
  first.tell('begin');
  await until(
    () => holderOf(join(folder, 'commands.lock')),
    (holder) => holder === String(first.pid),
  );
  process.kill(first.pid, 'SIGSTOP');
  const waiting = withFolderLock(
    folder,
    (line) => {
      expect(line).toMatch(`process ${first.pid}) is preparing`);
      process.kill(first.pid, 'SIGKILL');
    },
    () => Promise.resolve('in'),
  );
  expect(await waiting).toBe('in');
  expect.assertions(3);
});

test('a server that cannot start is reported with its last output, and is given no key', async () => {
  const folder = await freshFolder();
  const script =
    'case $1 in --version) echo "temporal version 1.0.0";; *) env; echo "no room"; exit 3;; esac';
  const broken = join(await fakeProgram('temporal', script), 'temporal');
  const failure = await attach(folder, { TEMPORAL_CLI_PATH: broken, OPENAI_API_KEY: 'sk-secret' }).catch(
    String,
  );

  const logPath = join(folder, 'server.log');
  expect(failure).toContain(`it ended at once: no room. Its full output is in ${logPath}.`);
  const log = await readFile(logPath, 'utf8');
  expect(log).toContain('PATH=');
  expect(log).not.toContain('sk-secret');
});

test('everything in the folder is made private to its owner, whatever its mode was before', async () => {
  const folder = join(await freshFolder(), '.conductor');
  const before = process.umask(0o022);
  try {
    await mkdir(folder, { mode: 0o755 });
    await attach(folder);
    const names = await readdir(folder, { recursive: true });
    expect(names).toEqual(expect.arrayContaining(['temporal.db', 'server.log', 'server.json', 'users.lock']));
    const modes = await Promise.all(
      ['.', ...names].map(async (name): Promise<[string, string]> => {
        const { mode } = await stat(join(folder, name));
        return [name, (mode & 0o777).toString(8)];
      }),
    );
    expect(modes).toEqual(modes.map(([name]) => [name, name === '.' ? '700' : '600']));
    expect(process.umask(0o022)).toBe(0o022);
  } finally {
    process.umask(before);
  }
});

test.each(['evil.example:7233', '10.0.0.1:7233', '127.0.0.1.evil.example:1', '127.0.0.1:1@evil.example:1'])(
  'a server.json that names another machine is ignored: %s',
  async (address) => {
    const folder = await freshFolder();
    const locked = await open(join(folder, 'server.json'), 'w');
    tryLock(locked.fd);
    const record = { address: '127.0.0.1:7233', uiAddress: 'http://127.0.0.1:8233', pid: process.pid };
    for (const change of [{}, { address }, { uiAddress: `http://${address}` }]) {
      await writeFile(join(folder, 'server.json'), JSON.stringify({ ...record, ...change }));
      expect(await runningServer(folder)).toEqual(Object.keys(change).length === 0 ? record : null);
    }
    await locked.close();
  },
);

test('a damaged server.json does not prevent a start', async () => {
  const folder = await freshFolder();
  await writeFile(join(folder, 'server.json'), '{"address": "127.0');
  expect((await attach(folder)).server.source).not.toEqual(RUNNING);
});

test("reports only the line of the server's output that says why it ended", () => {
  const wrapped = 'could not build arguments for function "temporal".Hooks: '.repeat(9);
  expect(readLastWord('panic: out of luck\n\ngoroutine 1 [running]:\nmain.main()\n')).toBe(
    'panic: out of luck',
  );
  expect(readLastWord(`Error: ${wrapped}the disk is full`)).toMatch(/^… .{280,}the disk is full$/);
  expect(readLastWord('')).toBe('it wrote nothing');
});

async function withClient<T>(server: TemporalServer, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: server.address });
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}
