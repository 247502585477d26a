import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../newcomer/pages';
import { PLAN, useStage } from './stage';
import { until } from '../support/until';

jest.setTimeout(240_000);

const QUESTION = 'What is the capital of France?';
const stage = useStage(
  { boss: { answer: PLAN }, alpha: { answer: 'Paris' } },
  // A call that is held for long must not be taken for lost.
  { server: 'shared', heartbeat: '1m' },
);

/** Installs the next release, of the same code, beside this one, and returns its command line. */
async function installNext(): Promise<string> {
  const next = join(stage.folder.path, 'next');
  await mkdir(next);
  await cp(join(ROOT, 'lib'), join(next, 'lib'), { recursive: true });
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as object;
  await writeFile(join(next, 'package.json'), JSON.stringify({ ...manifest, version: '99.0.0' }));
  for (const each of ['node_modules', 'profiles']) await symlink(join(ROOT, each), join(next, each));
  return join(next, 'lib', 'cli', 'main.js');
}

test('worker after worker is replaced by the next release: a call under way ends, a waiting run goes on', async () => {
  const program = await installNext();
  expect(await stage.start(['--version'], { program }).ended).toMatchObject({ stdout: '99.0.0\n' });
  const old = await stage.startReady(['worker', '--trust']);
  const waiting = (await stage.run('solve', QUESTION, '--approve', '--detach')).stdout.trim();
  await until(
    async () => (await stage.run('trace', waiting)).stdout,
    (trace) => trace.includes('approve'),
  );
  const release = stage.providers.hold('alpha');
  const called = (await stage.run('solve', QUESTION, '--detach')).stdout.trim();
  await stage.providers.waitForRequest(({ model }) => model === 'alpha');

  await stage.startReady(['worker', '--trust'], { program });
  const ending = old.end('SIGTERM');
  await old.hear(/Draining/);
  release();
  expect(await ending).toMatchObject({ code: 0 });
  expect(await stage.run('watch', called)).toMatchObject({ code: 0, stdout: 'Paris\n' });
  expect(stage.callsOf('alpha')).toBe(1);
  expect(await stage.run('approve', waiting)).toMatchObject({ code: 0 });
  expect(await stage.run('watch', waiting)).toMatchObject({ code: 0, stdout: 'Paris\n' });
  // One plan and one call each: nothing was paid twice.
  expect([stage.callsOf('boss'), stage.callsOf('alpha')]).toEqual([2, 2]);
});
