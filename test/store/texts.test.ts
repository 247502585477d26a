import { join } from 'node:path';
import { MAX_TEXT_BYTES } from '../../src/protocol/text';
import { SqliteStore } from '../../src/store/sqlite-store';
import { keepText, readText, TextNotFoundError, TextTooLargeError } from '../../src/store/texts';
import { freshFolder } from '../local/fresh-folder';
import { ageStore } from '../support/stores';

let path: string;
let store: SqliteStore;
beforeEach(async () => {
  path = join(await freshFolder(), 'store.db');
  store = new SqliteStore(path);
});

test('a short text travels inline and touches no store', async () => {
  const text = 'x'.repeat(4096);
  expect(await keepText(store, text)).toBe(text);
  expect(await readText(store, text)).toBe(text);
  await expect(store.list('texts/')).resolves.toEqual([]);
  // The limit counts bytes, not characters.
  expect(await keepText(store, 'é'.repeat(2049))).toMatchObject({ bytes: 4098 });
});

test('a long text is stored once however often it is kept, and comes back whole', async () => {
  const text = 'long answer '.repeat(1000);
  const [first, second] = [await keepText(store, text), await keepText(store, text)];
  expect(first).toEqual(second);
  const preview: unknown = expect.stringMatching(/^long answer/);
  expect(first).toMatchObject({ bytes: text.length, preview });
  expect(await store.list('texts/')).toHaveLength(1);
  expect(await readText(store, first)).toBe(text);
});

test('storing an old text again renews its time; a recent one is not rewritten', async () => {
  const text = 'said again '.repeat(1000);
  await keepText(store, text);
  const [key = ''] = await store.list('texts/');
  const writtenAt = async (): Promise<number> => Number((await store.stat(key))?.modifiedAt);
  ageStore(path, 30 * 60_000);
  await keepText(store, text);
  expect(await writtenAt()).toBeLessThan(Date.now() - 29 * 60_000);
  ageStore(path, 60 * 60_000);
  await keepText(store, text);
  expect(await writtenAt()).toBeGreaterThan(Date.now() - 10 * 60_000);
});

test('a text over the cap is refused before anything is written', async () => {
  await expect(keepText(store, 'x'.repeat(MAX_TEXT_BYTES + 1))).rejects.toBeInstanceOf(TextTooLargeError);
  expect(await store.list('texts/')).toEqual([]);
});

test('a missing text is reported with the store that was asked', async () => {
  const missing = { ref: `sha256-${'0'.repeat(64)}`, bytes: 5000, preview: '' };
  await expect(readText(store, missing)).rejects.toThrow(store.url);
  const outside = { ...missing, ref: '../../etc/passwd' };
  await expect(readText(store, outside)).rejects.toBeInstanceOf(TextNotFoundError);
});

test('altered bytes are detected', async () => {
  const text = await keepText(store, 'y'.repeat(5000));
  const [key = ''] = await store.list('texts/');
  await store.write(key, Buffer.from('tampered'));
  // As another process does, which has not kept the text itself.
  const elsewhere = new SqliteStore(path);
  await expect(readText(elsewhere, text)).rejects.toThrow(/does not match its SHA-256: restore/);
});

test('a text that was kept or read lately is not asked for again', async () => {
  const text = await keepText(store, 'z'.repeat(5000));
  const elsewhere = new SqliteStore(path);
  expect(await readText(elsewhere, text)).toHaveLength(5000);
  const [key = ''] = await store.list('texts/');
  await store.removeOlder(key, new Date(8.64e15));
  for (const each of [store, elsewhere]) expect(await readText(each, text)).toHaveLength(5000);
  await expect(readText(new SqliteStore(path), text)).rejects.toBeInstanceOf(TextNotFoundError);
});
