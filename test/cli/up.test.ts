import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { processMark } from '../../src/local/processes';
import { renderPlan } from '../../src/plan/render';
import { type SimulatedProviders, startSimulatedProviders } from '../../src/testing';
import { type RunningCommand, startCommand } from './command';
import { type Folder, makeFolder, poolAt, serverRuns } from './folder';
import { until } from '../support/until';

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

test('five deaths in a minute end it with the reason, and the server with it', async () => {
  for (let death = 1; death <= 5; death += 1) {
    const pid = await workerOf(up);
    process.kill(pid, 'SIGSEGV');
    if (death < 5) await up.hear(new RegExp(`process ${pid} was killed by SIGSEGV.*again[^]*Working again`));
  }
  const { code, stderr } = await up.ended;
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/died 5 times within a minute, the last time of SIGSEGV/) as string,
  });
  expect(await serverRuns(folder)).toBe(false);
}, 90_000);

test('a worker outlives its `up` by no more than it needs to drain', async () => {
  const pid = await workerOf(up);
  up.signal('SIGKILL');
  // Its output ends when the last of its processes has.
  expect((await up.ended).stderr).toContain('Ready');
  await until(
    () => processMark(pid),
    (mark) => mark === null,
  );
  expect(await serverRuns(folder)).toBe(false);
});
