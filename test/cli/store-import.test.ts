import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { renderPlan } from '../../src/plan/render';
import { startSimulatedProviders, type SimulatedProviders } from '../../src/testing';
import { runCommand, type Ended } from './command';
import { makeFolder, poolAt, type Folder } from './folder';

const QUESTION = `Is this long? ${'word '.repeat(1000)}`;
const PLAN = renderPlan({ steps: [{ worker: 'alpha', subtask: 'Look', sees: [] }] }, ['alpha', 'beta']);
/** Lies in the store: a run only refers to it. */
const LONG = 'It is. '.repeat(1000);
const OLD = 'file:.conductor/store';

let folder: Folder;
let providers: SimulatedProviders;

beforeEach(async () => {
  folder = await makeFolder();
  providers = await startSimulatedProviders({
    models: { boss: { answer: PLAN }, alpha: { answer: LONG } },
  });
  await folder.write('conductor.yaml', poolAt(providers.url));
});
afterEach(async () => {
  await providers.close();
  await folder.remove();
});

const run = (...args: string[]): Promise<Ended> => runCommand(args, { cwd: folder.path });
const solve = (): Promise<Ended> =>
  runCommand(['solve', '--json', '-'], { cwd: folder.path, input: QUESTION });
const kept = async (): Promise<string[]> =>
  (await readdir(join(folder.path, '.conductor'))).filter((name) => name.startsWith('store'));

test('a new folder has a database, and no word about it', async () => {
  const { code, stderr } = await solve();
  expect(code).toBe(0);
  expect(stderr).not.toContain('The store');
  expect(await kept()).toContain('store.db');
  expect(await kept()).not.toContain('store');
});

test("an earlier version's store goes on, is named with its remedy, and is taken over with all its runs", async () => {
  await mkdir(join(folder.path, '.conductor', 'store'), { recursive: true });
  const before = await solve();
  expect(before.stderr).toContain(`temporal-conductor store import ${OLD}`);
  expect(await kept()).toEqual(['store']);
  const spent = await run('cost', '--json');

  const taken = await run('store', 'import', OLD);
  expect(taken.stdout).toMatch(
    /^Took over from file:\.conductor\/store into sqlite:\.conductor\/store\.db: \d+ objects/,
  );
  expect(taken.stderr).toContain('Nothing was removed');
  expect(taken.stderr).not.toContain('Now name it');
  expect(await kept()).toContain('store.db');
  expect((await run('cost', '--json')).stdout).toBe(spent.stdout);
  const traced = await run('trace', 'last', '--format', 'json');
  expect(traced.stdout).toContain(LONG.trim());
});

test('a store that is named stays, and what cannot be taken over is said', async () => {
  await folder.write('conductor.yaml', poolAt(providers.url, { store: OLD }));
  expect((await solve()).stderr).not.toContain('store import');
  const taken = await run('store', 'import', OLD);
  expect(taken.stderr).toContain('Now name it in conductor.yaml: store: sqlite:.conductor/store.db');
  for (const [from, sentence] of [
    ['file:elsewhere', 'file:elsewhere is not there'],
    ['elsewhere', '"elsewhere" is no store: expected sqlite:PATH'],
  ] as const) {
    expect(await run('store', 'import', from)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(sentence) as string,
    });
  }
  await folder.write('conductor.yaml', poolAt(providers.url));
  expect(await run('store', 'import', 'sqlite:.conductor/store.db')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is the configured store itself') as string,
  });
});
