import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyRing } from '../../src/encryption/keys';
import { openStore } from '../../src/store/open-store';
import { takeOver } from '../../src/store/take-over';
import { keyRing } from '../encryption/test-keys';
import { freshFolder } from '../local/fresh-folder';

const LONG_AGO = new Date('2026-01-01');

let folder: string;
let from: string;
let to: string;
beforeEach(async () => {
  folder = await freshFolder();
  [from, to] = [`file:${folder}/store`, `sqlite:${folder}/store.db`];
});

const again = (keys?: KeyRing, onObject: (count: number) => void = () => undefined) =>
  takeOver(from, to, keys, onObject);

async function keepOld(content: Readonly<Record<string, string>>, keys?: KeyRing): Promise<void> {
  const store = openStore(from, '/', { keys });
  for (const [key, text] of Object.entries(content)) await store.write(key, Buffer.from(text));
  for (const key of await openStore(from, '/').list('')) {
    await utimes(join(folder, 'store', key), LONG_AGO, LONG_AGO);
  }
}

async function contentOf(url: string, keys?: KeyRing): Promise<Record<string, string>> {
  const store = openStore(url, '/', { keys });
  const keysOf = await store.list('');
  return Object.fromEntries(
    await Promise.all(keysOf.map(async (key) => [key, String(await store.read(key))] as const)),
  );
}

const CONTENT = {
  'answers/ab/abc.json': '{}',
  'ledger/run/c1/1.json': '{"endedAt":null}',
  'texts/ab/abc': 'x'.repeat(100_000),
  'training/serving.json': '',
};

test('all of it, into a database that is there when everything is in it', async () => {
  await keepOld(CONTENT);
  await writeFile(join(folder, 'store', 'notes of mine.txt'), 'not an object');
  await mkdir(join(folder, 'store', '.hidden'));
  expect(await again()).toMatchObject({ taken: { count: 4, bytes: 100_018 }, there: { count: 0 } });
  expect(await contentOf(to)).toEqual(CONTENT);
  expect(await contentOf(from)).toEqual(CONTENT);
  expect(await again()).toMatchObject({ taken: { count: 0, bytes: 0 }, there: { count: 4 } });
});

test('what was broken off is no store yet, and goes on where it was', async () => {
  const rows = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`rows/${index}`, `${index}`]));
  await keepOld(rows);
  const killed = again(undefined, (count) => {
    if (count === 50) throw new Error('killed');
  });
  await expect(killed).rejects.toThrow('killed');
  expect(await readdir(folder)).not.toContain('store.db');
  const { taken, there } = await again();
  expect(taken.count + there.count).toBe(60);
  expect(there.count).toBeGreaterThan(0);
  expect(await contentOf(to)).toEqual(rows);
  expect(await readdir(folder)).not.toContain('store.db.part');
});

test('what was added or changed since is taken over as well, and nothing newer is lost for it', async () => {
  await keepOld(CONTENT);
  await again();
  await openStore(from, '/').write('ledger/run/c1/1.json', Buffer.from('{"endedAt":"today"}'));
  await openStore(from, '/').write('texts/cd/cde', Buffer.from('new'));
  await openStore(to, '/').write('training/serving.json', Buffer.from('{}'));
  expect(await again()).toMatchObject({ taken: { count: 2 }, there: { count: 3 } });
  expect(await contentOf(to)).toEqual({
    ...CONTENT,
    'ledger/run/c1/1.json': '{"endedAt":"today"}',
    'texts/cd/cde': 'new',
    'training/serving.json': '{}',
  });
});

describe('encryption', () => {
  const call = `answers/c0/${'c0'.repeat(32)}.json`;

  test('what is encrypted stays so, under whichever key', async () => {
    await keepOld({ [call]: 'old' }, keyRing('old'));
    await keepOld({ 'training/serving.json': '{}' }, keyRing('new', 'old'));
    await writeFile(join(folder, 'store', 'lost-with-the-power.json'), Buffer.alloc(10));
    expect((await again(keyRing('new', 'old'))).taken.count).toBe(3);
    const store = openStore(to, '/', { keys: keyRing('new', 'old') });
    expect(String(await store.read(call))).toBe('old');
    expect(String(await store.read('training/serving.json'))).toBe('{}');
  });

  test.each([
    ['without the keys', keyRing('old'), undefined, 'is encrypted with key "old"'],
    ['with other keys', keyRing('old'), keyRing('new'), 'was encrypted with key "old", which'],
    ['with keys, of what is not encrypted', undefined, keyRing('new'), 'is not encrypted'],
  ])('is never mixed: %s', async (_, written, keys, sentence) => {
    await keepOld({ [call]: 'content' }, written);
    await expect(again(keys)).rejects.toThrow(sentence);
    expect(await openStore(to, '/').list('')).toEqual([]);
  });
});
