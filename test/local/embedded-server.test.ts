import { mkdir, open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { TemporalServer } from '../../src/local/configured-server';
import { embeddedServer } from '../../src/local/embedded-server';
import { liveUsers, readServerRecord, type ServerRecord, writeServerRecord } from '../../src/local/lease';
import { holdersOf, processMark } from '../../src/local/processes';
import { databasePath } from '../../src/local/server-process';
import { type ChildProgram, runChild } from '../../examples/learn/support/programs';
import { fakeProgram } from './fake-program';
import { freshFolder } from './fresh-folder';

const children: ChildProgram[] = [];
const servers: TemporalServer[] = [];
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

/** A command in a process of its own, about to use the folder's server. */
const command = async (folder: string, role = 'solve'): Promise<ChildProgram> => {
  const child = runChild(join(__dirname, 'programs', 'use-server.ts'), [folder, role], process.env);
  children.push(child);
  expect(await child.nextMessage()).toBe('ready');
  return child;
};

/** Lets a command attach, and returns what it then knows of the server. */
const begin = async (child: ChildProgram): Promise<{ address: string }> => {
  child.tell('begin');
  return (await child.nextMessage()) as { address: string };
};

/** This process as a command; what it was told while it waited comes with it. */
const attach = async (folder: string, more: NodeJS.ProcessEnv = {}) => {
  const told: string[] = [];
  const server = await embeddedServer({
    folder,
    env: { ...process.env, ...more },
    say: (line) => told.push(line),
  });
  servers.push(server);
  return { server, told: told.join('\n') };
};

/** What a command says of a server that another one started. */
const RUNNING = expect.stringContaining('the server running in') as string;

const serverProcesses = (folder: string): Promise<number[]> => holdersOf(databasePath(folder));

const leave = async (child: ChildProgram): Promise<void> => {
  child.tell('leave');
  expect(await child.ended()).toBe(0);
};

test('two commands at once in one folder use one server, and the last to leave stops it', async () => {
  const folder = await freshFolder();
  const [one, other] = await Promise.all([command(folder), command(folder)]);
  const seen = await Promise.all([begin(one), begin(other)]);

  const { address } = seen[0];
  expect(seen).toEqual(
    expect.arrayContaining([
      { address, source: expect.not.stringContaining('running in') as string },
      { address, source: RUNNING },
    ]),
  );
  expect(await serverProcesses(folder)).toHaveLength(1);

  await leave(one);
  expect(await serverProcesses(folder)).toHaveLength(1);
  await leave(other);
  expect(await serverProcesses(folder)).toEqual([]);
  expect((await readServerRecord(folder))?.process).toBeNull();
});

test('a command that stays promises its server to those who come later', async () => {
  const folder = await freshFolder();
  await begin(await command(folder, 'up'));
  expect((await attach(folder)).server.source).toEqual(RUNNING);
  expect((await liveUsers(folder)).map(({ stays }) => stays).sort()).toEqual([false, true]);
});

test('a server whose starter was killed is taken over, and stopped by who took it over', async () => {
  const folder = await freshFolder();
  const starter = await command(folder);
  const { address } = await begin(starter);
  await starter.kill();
  const orphans = await serverProcesses(folder);
  expect(orphans).toHaveLength(1);

  const { server, told } = await attach(folder);
  expect(told).toMatch(/Taking over the Temporal server that an earlier command left running/);
  expect(server).toMatchObject({ address, source: RUNNING });
  expect(await serverProcesses(folder)).toEqual(orphans);
  await server.stop();
  expect(await serverProcesses(folder)).toEqual([]);
});

test('a server whose starter was killed before it could note its process is found by its database', async () => {
  const folder = await freshFolder();
  const starter = await command(folder);
  await begin(starter);
  await starter.kill();
  const record = await readServerRecord(folder);
  if (record === null) throw new Error('The starter left no record.');
  await writeServerRecord(folder, { ...record, process: null });

  const { server } = await attach(folder);
  expect(server).toMatchObject({ address: record.address, source: RUNNING });
  await server.stop();
  expect(await serverProcesses(folder)).toEqual([]);
});

test('after a kill -9 of the server the next command starts it on the same file and ports', async () => {
  const folder = await freshFolder();
  const { server: before } = await attach(folder);
  await withClient(before, (client) =>
    client.workflow.start('conductorSolve', { args: [], taskQueue: 'nobody', workflowId: 'kept' }),
  );
  const [pid = 0] = await serverProcesses(folder);
  process.kill(pid, 'SIGKILL');
  while ((await processMark(pid)) !== null);

  const { server: after } = await attach(folder);
  expect(after).toMatchObject({ address: before.address, source: before.source });
  const kept = await withClient(after, (client) => client.workflow.getHandle('kept').describe());
  expect(kept.status.name).toBe('RUNNING');
});

test("a database that a stranger's process has open is left alone", async () => {
  const folder = await freshFolder();
  const stranger = await open(databasePath(folder), 'w');
  try {
    await expect(attach(folder)).rejects.toThrow(
      new RegExp(`temporal\\.db is in use by process ${process.pid}, .* set TEMPORAL_ADDRESS to it`),
    );
  } finally {
    await stranger.close();
  }
});

test('a server that cannot start is reported with its own last word, and it was given no key', async () => {
  const folder = await freshFolder();
  const script =
    'case $1 in --version) echo "temporal version 1.0.0";; *) env; echo "no room"; exit 3;; esac';
  const broken = join(await fakeProgram('temporal', script), 'temporal');
  const failure = await attach(folder, { TEMPORAL_CLI_PATH: broken, OPENAI_API_KEY: 'sk-secret' }).catch(
    String,
  );

  const logPath = join(folder, 'server.log');
  expect(failure).toContain(`did not start: it ended at once: no room. All that it wrote is in ${logPath}.`);
  const log = await readFile(logPath, 'utf8');
  expect(log).toContain('PATH=');
  expect(log).not.toContain('sk-secret');
});

test('all that lies in the folder is for its owner alone, whatever it was before', async () => {
  const folder = join(await freshFolder(), '.conductor');
  const before = process.umask(0o022);
  try {
    await mkdir(folder, { mode: 0o755 });
    await attach(folder);
    const names = await readdir(folder, { recursive: true });
    expect(names).toEqual(expect.arrayContaining(['temporal.db', 'server.log', 'server.json', 'users']));
    const modes = await Promise.all(
      ['.', ...names].map(async (name): Promise<[string, string]> => {
        const { mode } = await stat(join(folder, name));
        return [name, (mode & 0o777).toString(8)];
      }),
    );
    const folders = ['.', 'users'];
    expect(modes).toEqual(modes.map(([name]) => [name, folders.includes(name) ? '700' : '600']));
    expect(process.umask(0o022)).toBe(0o022);
  } finally {
    process.umask(before);
  }
});

test.each(['evil.example:7233', '10.0.0.1:7233', '127.0.0.1.evil.example:1', '127.0.0.1:1@evil.example:1'])(
  'a server.json of another machine counts as none: %s',
  async (address) => {
    const folder = await freshFolder();
    const record: ServerRecord = {
      address: '127.0.0.1:7233',
      uiAddress: 'http://127.0.0.1:8233',
      process: { pid: process.pid, mark: String(await processMark(process.pid)) },
      startedAt: new Date().toISOString(),
    };
    const readBack = async (change: Partial<ServerRecord>): Promise<ServerRecord | null> => {
      await writeServerRecord(folder, { ...record, ...change });
      return readServerRecord(folder);
    };
    expect(await readBack({})).toEqual(record);
    expect(await readBack({ address })).toBeNull();
    expect(await readBack({ uiAddress: `http://${address}` })).toBeNull();
  },
);

test('a damaged server.json is no obstacle', async () => {
  const folder = await freshFolder();
  await writeFile(join(folder, 'server.json'), '{"address": "127.0');
  expect((await attach(folder)).server.source).not.toEqual(RUNNING);
});

async function withClient<T>(server: TemporalServer, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: server.address });
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}
