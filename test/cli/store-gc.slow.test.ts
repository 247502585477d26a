import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { SqliteStore } from '../../src/store/sqlite-store';
import { keepText, readText } from '../../src/store/texts';
import { ArtifactFolder } from '../../src/training/artifacts';
import { ageStore } from '../support/stores';
import { type Ended, endedWith } from './command';
import { poolAt, trainingOf } from './folder';
import { PLAN, useStage } from './stage';

const QUESTION = `Is this long? ${'word '.repeat(1000)}`;

const A_MONTH_MS = 31 * 24 * 60 * 60 * 1000;

const stage = useStage({ boss: { answer: PLAN }, alpha: { answer: 'It is.' } });
/** Solves the question, and opens the store. */
async function solve(): Promise<{ path: string; store: SqliteStore }> {
  await stage.startServer();
  expect((await stage.start(['solve', '-'], { input: QUESTION }).ended).code).toBe(0);
  const path = join(stage.folder.path, '.conductor', 'store.db');
  return { path, store: new SqliteStore(path) };
}

const gc = (...options: string[]): Promise<Ended> => stage.run('store', 'gc', ...options);

test('store gc reports what it removes and what a run still needs', async () => {
  const { path, store } = await solve();
  await keepText(store, 'nobody needs this '.repeat(300));
  ageStore(path, A_MONTH_MS);

  const kept =
    /^Kept, as old: 1 text \(5\.01 kB\) and 2 answers \([\d.]+ (bytes|kB)\)\. Looked at 1 run of namespace default at \S+, and at no others\.$/m;
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

test('store gc keeps what records of training and evaluations refer to', async () => {
  const artifacts = new ArtifactFolder(join(stage.folder.path, 'artifacts'));
  const training = trainingOf({ artifacts: artifacts.url });
  await stage.folder.write('conductor.yaml', { ...poolAt(stage.providers.url), training });
  const { path, store } = await solve();
  const answer = await keepText(store, 'the answer of a rollout '.repeat(300));
  const group = 'training/runs/night/cycles/0001/groups/000000-0.json';
  await store.write(group, Buffer.from(JSON.stringify({ rollouts: [{ answer }] })));
  const [asked, found] = [
    await keepText(store, 'the logged answer of a question '.repeat(300)),
    await keepText(store, 'the answer of an evaluated worker '.repeat(300)),
  ];
  const set = `questions/${'0'.repeat(64)}.jsonl`;
  await store.write(set, Buffer.from(`{}\n${JSON.stringify({ id: '1', logged: { answer: asked } })}\n`));
  const result = 'evaluations/eval-1/results/000000/clerk.json';
  await store.write(result, Buffer.from(JSON.stringify({ answer: found })));
  const [named, gone] = ['ab', 'cd'].map((start) => `weights/${start}/${start.repeat(32)}`);
  const files = [{ path: 'model/model.safetensors', bytes: 9, sha256: 'ab'.repeat(32) }];
  const record = JSON.stringify({ schema: 1, record: { kind: 'base' }, files });
  await artifacts.write('training/night/weights/000001.json', Buffer.from(record));
  const monthAgo = new Date(Date.now() - A_MONTH_MS);
  for (const key of [named, gone].map(String)) {
    await artifacts.write(key, Buffer.from('1.5 -0.25'));
    await utimes(join(artifacts.url, key), monthAgo, monthAgo);
  }
  ageStore(path, A_MONTH_MS);

  const foretold = await gc('--older-than', '30d', '--dry-run');
  expect(foretold.stdout).toContain('Would remove: 1 weight file (9 bytes).\n');
  const { code, stdout } = await gc('--older-than', '30d');
  expect(stdout).toContain('Removed: 1 weight file (9 bytes).\nKept, as old: 4 texts (');
  expect(stdout).toContain(' and 1 weight file (9 bytes). Looked at 1 run of namespace');
  expect(await artifacts.list('weights/')).toEqual([named]);
  expect(code).toBe(0);
  for (const text of [answer, asked, found]) expect(await readText(store, text)).toContain('answer of');
});

test('store gc is refused without an age, with an age below a day, and if no run was ever started', async () => {
  expect(await gc()).toMatchObject(endedWith(2, '--older-than'));
  expect(await gc('--older-than', '12h')).toMatchObject(endedWith(2, 'Expected a number of days from 1d'));
  expect(await gc('--older-than', '1d')).toMatchObject(endedWith(2, 'no run was ever started'));
});
