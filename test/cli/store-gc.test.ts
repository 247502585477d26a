import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderPlan } from '../../src/plan/render';
import { FileStore } from '../../src/store/file-store';
import { keepText, readText } from '../../src/store/texts';
import { startSimulatedProviders, type SimulatedProviders } from '../../src/testing';
import { runCommand, type Ended } from './command';
import { makeFolder, poolAt, type Folder } from './folder';

const QUESTION = `Is this long? ${'word '.repeat(1000)}`;
const PLAN = renderPlan({ steps: [{ worker: 'alpha', subtask: 'Look', sees: [] }] }, ['alpha', 'beta']);

let folder: Folder;
let providers: SimulatedProviders;

beforeEach(async () => {
  folder = await makeFolder();
  providers = await startSimulatedProviders({
    models: { boss: { answer: PLAN }, alpha: { answer: 'It is.' } },
  });
  await folder.write('conductor.yaml', poolAt(providers.url, { store: 'file:.conductor/store' }));
});
afterEach(async () => {
  await providers.close();
  await folder.remove();
});

const gc = (...options: string[]): Promise<Ended> =>
  runCommand(['store', 'gc', ...options], { cwd: folder.path });

test('store gc says what it removes, and what a run still needs', async () => {
  const solved = await runCommand(['solve', '-'], { cwd: folder.path, input: QUESTION });
  expect(solved.code).toBe(0);
  const root = join(folder.path, '.conductor', 'store');
  const store = new FileStore(root);
  await keepText(store, 'nobody needs this '.repeat(300));
  const aMonthAgo = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000);
  for (const key of [...(await store.list('texts/')), ...(await store.list('answers/'))]) {
    await utimes(join(root, key), aMonthAgo, aMonthAgo);
  }

  const kept =
    /^Kept, as old: 1 text \(5\.01 kB\) and 2 answers \([\d.]+ (bytes|kB)\)\. The server at \S+ holds 1 run\.$/m;
  const removed = '1 text (5.40 kB).\n';
  const foretold = await gc('--older-than', '30d', '--dry-run');
  expect(foretold.stdout).toContain(`Would remove: ${removed}`);
  expect(foretold.stdout).toMatch(kept);
  const collected = await gc('--older-than', '30d');
  expect(collected.stdout).toContain(`Removed: ${removed}`);
  expect(collected.stdout).toMatch(kept);
  const again = await gc('--older-than', '30d');
  expect(again.stdout).toContain('Removed: nothing.\n');
  expect([foretold.code, collected.code, again.code]).toEqual([0, 0, 0]);
  expect(await store.list('texts/')).toHaveLength(1);
});

test('store gc keeps what records of training refer to, and takes what killed writers left', async () => {
  const solved = await runCommand(['solve', '-'], { cwd: folder.path, input: QUESTION });
  expect(solved.code).toBe(0);
  const root = join(folder.path, '.conductor', 'store');
  const store = new FileStore(root);
  const answer = await keepText(store, 'the answer of a rollout '.repeat(300));
  const record = 'training/runs/night/cycles/0001/groups/000000-0.json';
  await store.write(record, Buffer.from(JSON.stringify({ rollouts: [{ answer }] })));
  const [named, gone] = ['ab', 'cd'].map((start) => `weights/${start}/${start.repeat(32)}`);
  for (const piece of [named, gone]) await store.write(String(piece), Buffer.from('1.5 -0.25'));
  const files = [{ path: 'model/model.safetensors', bytes: 9, chunks: ['ab'.repeat(32)] }];
  await store.write('training/night/weights/000001.json', Buffer.from(JSON.stringify({ schema: 1, files })));
  const unfinished = join(root, 'training', `.${randomUUID()}`);
  const young = join(root, `.${randomUUID()}`);
  for (const file of [unfinished, young]) await writeFile(file, 'half a rec');
  const aMonthAgo = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000);
  for (const key of [...(await store.list('texts/')), ...(await store.list('weights/'))]) {
    await utimes(join(root, key), aMonthAgo, aMonthAgo);
  }
  await utimes(unfinished, aMonthAgo, aMonthAgo);

  const foretold = await gc('--older-than', '30d', '--dry-run');
  expect(foretold.stdout).toContain(
    'Would remove: 1 weight piece (9 bytes) and 1 unfinished file (10 bytes).\n',
  );
  const { code, stdout } = await gc('--older-than', '30d');
  expect(stdout).toContain(
    'Removed: 1 weight piece (9 bytes) and 1 unfinished file (10 bytes).\nKept, as old: 2 texts (',
  );
  expect(stdout).toContain(' and 1 weight piece (9 bytes). The server');
  expect(await store.list('weights/')).toEqual([named]);
  expect(code).toBe(0);
  expect(await readText(store, answer)).toContain('of a rollout');
  expect(existsSync(unfinished)).toBe(false);
  expect(existsSync(young)).toBe(true);
});

test('store gc is refused without an age, with one below a day, and where no run ever was', async () => {
  expect(await gc()).toMatchObject({ code: 2, stderr: expect.stringContaining('--older-than') as string });
  expect(await gc('--older-than', '12h')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Expected a number of days from 1d') as string,
  });
  expect(await gc('--older-than', '1d')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no run was ever started in this folder') as string,
  });
});
