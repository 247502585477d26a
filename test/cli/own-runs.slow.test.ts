import { cp, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ended, runCommand, startCommand } from './command';
import { poolAt } from './folder';
import { PLAN, useStage } from './stage';

const stage = useStage({ boss: { answer: PLAN }, alpha: { answer: 'Paris' } });

const pathOf = (...place: string[]): string => join(stage.folder.path, ...place);
const run = (place: string, ...args: readonly string[]): Promise<Ended> =>
  runCommand(args, { cwd: pathOf(place) });

/** Makes a folder `theirs` with an open run, as a killed command leaves it, and returns the run's id. */
async function leaveRun(): Promise<string> {
  await mkdir(pathOf('theirs'));
  await stage.folder.write('theirs/conductor.yaml', poolAt(stage.providers.url));
  const release = stage.providers.hold('alpha');
  const solving = startCommand(['solve', 'The question of the STRANGER'], {
    cwd: pathOf('theirs'),
  });
  await stage.providers.waitForRequest(({ model }) => model === 'alpha');
  await solving.end('SIGKILL');
  release();
  // Stops the server when it ends.
  const { stdout } = await run('theirs', 'list', '--json');
  return (JSON.parse(stdout) as { runs: [{ id: string }] }).runs[0].id;
}

test('the runs of a folder from elsewhere need trust before they continue, but can be listed', async () => {
  const id = await leaveRun();
  await cp(pathOf('theirs'), pathOf('copied'), { recursive: true });
  const before = stage.providers.log.length;

  for (const args of [['solve', 'Mine?'], ['up']]) {
    const { code, stderr } = await run('copied', ...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/temporal\.db was not made by you on this machine\..*open runs/);
    expect(stderr).toContain(`CONDUCTOR_TRUST=RUNS=${pathOf('copied', '.conductor')}`);
  }
  expect((await run('copied', 'list')).stdout).toContain('STRANGER');
  expect(stage.providers.log).toHaveLength(before);

  // Once trusted, the folder counts as this user's.
  expect(await run('copied', 'watch', id, '--trust')).toMatchObject({ code: 0, stdout: 'Paris\n' });
  expect(await run('copied', 'solve', 'Mine?')).toMatchObject({ code: 0, stdout: 'Paris\n' });

  // A folder that is moved on its disk stays known.
  await rename(pathOf('theirs'), pathOf('moved'));
  expect(await run('moved', 'watch', id)).toMatchObject({ code: 0, stdout: 'Paris\n' });
}, 120_000);
