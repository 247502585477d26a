import type { ConfigInput } from '../../src';
import { until } from '../support/until';
import { PLAN, useStage } from './stage';

const stage = useStage({ boss: { answer: PLAN }, alpha: { answer: 'Paris.' }, beta: {} });

const withAttributes = (searchAttributes: NonNullable<ConfigInput['temporal']>['searchAttributes']) =>
  stage.folder.write('conductor.yaml', stage.pool({ temporal: { searchAttributes } }));

/** Returns the number of runs that a list shows. */
async function count(...where: readonly string[]): Promise<number> {
  const { stdout } = await stage.run('list', '--json', '--where', ...where);
  return (JSON.parse(stdout) as { readonly runs: readonly unknown[] }).runs.length;
}

test("this folder's own server gets what the configuration has solves started with, and list finds them", async () => {
  await stage.startServer();
  const bare = await stage.run('doctor');
  expect(bare.stdout).not.toContain('Attributes');
  await withAttributes(['ConductorTenant', 'ConductorModel']);
  expect((await stage.run('doctor')).stdout).toMatch(/✓ Attributes +the next command adds them/);

  expect((await stage.run('solve', '--tenant', `it's "acme"`, 'Where?')).stdout).toBe('Paris.\n');
  await until(
    () => count(`tenant=it's "acme"`, 'model=conductor'),
    (found) => found === 1,
  );
  expect(await count('tenant=acme')).toBe(0);
  expect(await stage.run('list', '--where', 'key=shop')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('list with ConductorKey') as string,
  });
  expect((await stage.run('doctor')).stdout).toMatch(
    /✓ Attributes +namespace default has ConductorTenant, ConductorModel/,
  );
}, 120_000);
