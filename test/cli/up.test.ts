import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { renderPlan } from '../../src/plan/render';
import { type SimulatedProviders, startSimulatedProviders } from '../../src/testing';
import { type Ended, runCommand, type RunningCommand, startCommand } from './command';
import { type Folder, makeFolder, poolAt, serverRuns } from './folder';
import { until, untilGone } from '../support/until';

const PLAN = renderPlan({ steps: [{ worker: 'alpha', subtask: 'Guess', sees: [] }] }, ['alpha', 'beta']);

let folder: Folder;
let providers: SimulatedProviders;
let up: RunningCommand;

beforeEach(async () => {
  folder = await makeFolder();
  providers = await startSimulatedProviders({
    models: { boss: { answer: PLAN }, alpha: { answer: 'Paris' } },
  });
  await folder.write('conductor.yaml', poolAt(providers.url));
  up = startCommand(['up'], { cwd: folder.path });
  await up.hear(/^Ready/m);
});

afterEach(async () => {
  up.signal('SIGINT');
  await up.ended;
  await providers.close();
  await folder.remove();
});

/** The process that works for `up`, which is its only child: the server has a group, and a parent, of its own. */
async function workerOf({ pid }: RunningCommand): Promise<number> {
  const { stdout } = await promisify(execFile)('pgrep', ['-P', String(pid), '-f', 'up-worker']);
  return Number(stdout);
}

test.each(['SIGKILL', 'SIGSEGV'] as const)(
  'a worker that dies of %s is started again, and what it did goes on',
  async (signal) => {
    const release = providers.hold('alpha');
    const solving = startCommand(['solve', 'Where?', '--detach'], { cwd: folder.path });
    const id = (await solving.ended).stdout.trim();
    await providers.waitForRequest(({ model }) => model === 'alpha');
    const first = await workerOf(up);
    process.kill(first, signal);
    await up.hear(new RegExp(`process ${first} was killed by ${signal}.*again`));
    release();
    const watched = await startCommand(['watch', id], { cwd: folder.path }).ended;
    expect(watched).toMatchObject({ code: 0, stdout: 'Paris\n' });
    expect(await workerOf(up)).not.toBe(first);
  },
  60_000,
);

test('five crashes in a minute end it with the reason, and the server with it', async () => {
  for (let death = 1; death <= 5; death += 1) {
    const pid = await workerOf(up);
    process.kill(pid, 'SIGSEGV');
    if (death < 5)
      await up.hear(new RegExp(`process ${pid} was killed by SIGSEGV.*again[^]*is working again`));
  }
  const { code, stderr } = await up.ended;
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/crashed 5 times within a minute, the last time with SIGSEGV/) as string,
  });
  expect(await serverRuns(folder)).toBe(false);
}, 90_000);

test('a worker outlives its `up` by no more than it needs to drain', async () => {
  const pid = await workerOf(up);
  up.signal('SIGKILL');
  // Its output ends when the last of its processes has.
  expect((await up.ended).stderr).toContain('Ready');
  await untilGone(pid);
  // It was killed, and is gone once the system has noticed.
  await until(
    () => serverRuns(folder),
    (runs) => !runs,
  );
});

function run(...args: string[]): Promise<Ended> {
  return runCommand(args, { cwd: folder.path });
}

test('a changed conductor.yaml is told, with what to restart; runs keep what the worker read, and say so', async () => {
  const first = await workerOf(up);
  await folder.write('conductor.yaml', 'conductor: [');
  await up.hear(/conductor\.yaml has changed, and cannot be used: conductor\.yaml:1:[^]*"up" goes on with/);
  await folder.write('conductor.yaml', poolAt(providers.url, { limits: { steps: 3 } }));
  await up.hear(/conductor\.yaml has changed \(limits\.steps\)\. "up" goes on with what it read: restart it/);
  expect(await workerOf(up)).toBe(first);
  const solved = await run('solve', 'Where?', '--detach');
  expect(solved.stderr).toMatch(
    /The worker that began this run read another version .*: limits\.steps differs\./,
  );
  up.signal('SIGINT');
  await up.ended;
  up = startCommand(['up'], { cwd: folder.path });
  await up.hear(/^Ready/m);
  expect((await run('solve', 'Where?', '--detach')).stderr).not.toContain('another version');
});

test('a worker for a server elsewhere tells that it works, and that a changed file takes a restart', async () => {
  const [, address = ''] = await up.hear(/^Temporal +(\S+),/m);
  const env = { TEMPORAL_ADDRESS: address };
  const worker = startCommand(['worker', '--health', '0'], { cwd: folder.path, env });
  const [, health = ''] = await worker.hear(/^Health +(\S+)\nReady/m);
  expect(await (await fetch(health)).json()).toEqual({ healthy: true, state: 'polling' });
  await folder.write('conductor.yaml', poolAt(providers.url, { limits: { steps: 3 } }));
  await worker.hear(/changed \(limits\.steps\)\. "worker" goes on with what it read/);
  worker.signal('SIGTERM');
  expect((await worker.ended).code).toBe(0);
});

test.each(['activity', 'workflow'] as const)(
  'a run that waits for %s of the pool on a queue that nobody polls says so, with a remedy',
  async (provider) => {
    const { workers, ...pool } = poolAt(providers.url);
    const legal = { id: 'alpha', provider, type: 'checkContract', taskQueue: 'legal' } as const;
    await folder.write('conductor.yaml', { ...pool, workers: [legal, ...workers.slice(1)] });
    up.signal('SIGINT');
    await up.ended;
    up = startCommand(['up'], { cwd: folder.path });
    await up.hear(/^Ready/m);
    const solving = startCommand(['solve', 'Where?'], { cwd: folder.path });
    await solving.hear(
      new RegExp(
        `No worker polls task queue legal at \\S+, where worker alpha of the pool is \\(${provider} checkContract\\).*--deny alpha`,
      ),
    );
    solving.signal('SIGINT');
    expect((await solving.ended).code).toBe(130);
    expect(await run('solve', 'Where?', '--deny', 'alpha')).toMatchObject({ code: 0 });
  },
);

test('no run is left where no worker polls, and one whose worker has gone is not waited for in silence', async () => {
  await folder.write('other.yaml', poolAt(providers.url));
  const other = ['--config', 'other.yaml'];
  const refused = await run('solve', 'Where?', '--detach', ...other);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  const [, ...beside] = /: temporal-conductor (up) (--config) (\S+)\n$/.exec(refused.stderr) ?? [];
  expect(refused.stderr).toContain('no worker of this folder polls task queue conductor@other.yaml');

  const release = providers.hold('alpha');
  let second = startCommand(beside, { cwd: folder.path });
  await second.hear(/^Ready/m);
  const { stdout } = await run('solve', 'Where?', '--detach', ...other);
  await providers.waitForRequest(({ model }) => model === 'alpha');
  second.signal('SIGINT');
  second.signal('SIGINT');
  await second.ended;
  release();

  const watching = startCommand(['watch', stdout.trim()], { cwd: folder.path });
  const [, ...again] = await watching.hear(
    /No worker polls task queue conductor@other\.yaml at .* Start one with: temporal-conductor (up) (--config) (\S+)/,
  );
  second = startCommand(again, { cwd: folder.path });
  expect(await watching.ended).toMatchObject({ code: 0, stdout: 'Paris\n' });
  second.signal('SIGINT');
  await second.ended;
});
