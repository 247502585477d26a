import { cp, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { renderPlan } from '../../src/plan/render';
import { type SimulatedProviders, startSimulatedProviders } from '../../src/testing';
import { type Ended, runCommand, startCommand } from './command';
import { type Folder, makeFolder, poolAt } from './folder';

const PLAN = renderPlan({ steps: [{ worker: 'alpha', subtask: 'x', sees: [] }] }, ['alpha', 'beta']);

let folder: Folder;
let providers: SimulatedProviders;

beforeEach(async () => {
  folder = await makeFolder();
  providers = await startSimulatedProviders({
    models: { boss: { answer: PLAN }, alpha: { answer: 'Paris' } },
  });
});
afterEach(async () => {
  await providers.close();
  await folder.remove();
});

const run = (place: string, ...args: readonly string[]): Promise<Ended> =>
  runCommand(args, { cwd: join(folder.path, place) });

/** A folder `theirs` with an open run, as a killed command leaves it. */
async function leaveRun(): Promise<string> {
  await mkdir(join(folder.path, 'theirs'));
  await folder.write('theirs/conductor.yaml', poolAt(providers.url));
  const release = providers.hold('alpha');
  const solving = startCommand(['solve', 'The question of the STRANGER'], {
    cwd: join(folder.path, 'theirs'),
  });
  await providers.waitForRequest(({ model }) => model === 'alpha');
  solving.signal('SIGKILL');
  await solving.ended;
  release();
  // Stops the server.
  const { stdout } = await run('theirs', 'list', '--json');
  return (JSON.parse(stdout) as { runs: [{ id: string }] }).runs[0].id;
}

test('runs of a folder that came from elsewhere are asked for before they go on, and may be looked at', async () => {
  const id = await leaveRun();
  await cp(join(folder.path, 'theirs'), join(folder.path, 'copied'), { recursive: true });
  const before = providers.log.length;

  for (const args of [['solve', 'Mine?'], ['up']]) {
    const { code, stderr } = await run('copied', ...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/temporal\.db was not made by you on this machine\..*open runs/);
    expect(stderr).toContain(`CONDUCTOR_TRUST=RUNS=${join(folder.path, 'copied', '.conductor')}`);
  }
  expect((await run('copied', 'list')).stdout).toContain('STRANGER');
  expect(providers.log).toHaveLength(before);

  // Once trusted, it is this user's.
  expect(await run('copied', 'watch', id, '--trust')).toMatchObject({ code: 0, stdout: 'Paris\n' });
  expect(await run('copied', 'solve', 'Mine?')).toMatchObject({ code: 0, stdout: 'Paris\n' });

  // Moved on its disk, a folder stays known.
  await rename(join(folder.path, 'theirs'), join(folder.path, 'moved'));
  expect(await run('moved', 'watch', id)).toMatchObject({ code: 0, stdout: 'Paris\n' });
}, 120_000);
