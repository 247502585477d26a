import { join } from 'node:path';
import fc from 'fast-check';
import { EncryptedStore } from '../../src/store/encrypted-store';
import { SqliteStore } from '../../src/store/sqlite-store';
import { writeRow, type LedgerRow } from '../../src/store/ledger';
import { keepText, readText } from '../../src/store/texts';
import { freshFolder } from '../local/fresh-folder';
import { ageStore } from '../support/stores';
import { aRow, OPEN, rowsOfRun } from '../support/ledger-of';
import { keyRing } from './test-keys';

const TEXT = 'a text that is longer than what travels inline. '.repeat(200);
const LATER = new Date(8.64e15);

let path: string;
let plain: SqliteStore;
beforeEach(async () => {
  path = join(await freshFolder(), 'store.db');
  plain = new SqliteStore(path);
});

/** Returns this test's store as a process with these keys sees it. */
function storeWith(...ids: readonly string[]): EncryptedStore {
  return new EncryptedStore(plain, keyRing(...ids));
}

/** Returns the names and contents of everything in the database. */
async function beneath(): Promise<Map<string, Buffer | null>> {
  const names = await plain.list('');
  return new Map(await Promise.all(names.map(async (name) => [name, await plain.read(name)] as const)));
}

function row(runId: string, changes: Partial<LedgerRow> = {}): LedgerRow {
  return aRow({ ...OPEN, runId, model: 'marked-model', ...changes });
}

test('whatever is written can be read back, and is not readable in the store beneath', async () => {
  const store = storeWith('a');
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 16, maxLength: 300 }), async (bytes) => {
      await store.write('place/of/any.json', bytes);
      expect((await store.read('place/of/any.json'))?.equals(bytes)).toBe(true);
      const [sealed] = (await beneath()).values();
      expect(sealed?.includes(Buffer.from(bytes))).toBe(false);
    }),
    { numRuns: 30 },
  );
  expect(await store.read('place/of/nothing.json')).toBeNull();
});

test('equal texts are stored once, with equal bytes, and no name or file shows a text or its digest', async () => {
  const [first, second] = [await keepText(storeWith('a'), TEXT), await keepText(storeWith('a'), TEXT)];
  expect(first).toEqual(second);
  const before = await beneath();
  expect(before.size).toBe(1);
  for (const name of before.keys()) await plain.removeOlder(name, LATER);
  await keepText(storeWith('a'), TEXT);
  expect(await beneath()).toEqual(before);

  expect(await readText(storeWith('a'), first)).toBe(TEXT);
  const digest = typeof first === 'string' ? '' : first.ref.replace('sha256-', '');
  const shown = [...before].map(([name, bytes]) => `${name} ${bytes?.toString('latin1')}`).join('\n');
  expect(shown).not.toContain(digest);
  expect(shown).not.toContain('travels inline');
});

test('no two objects share a nonce, even if their contents are equal', async () => {
  for (const key of ['one.json', 'two.json']) await storeWith('a').write(key, Buffer.from('the same'));
  // The nonce comes after the mark, the length of the key's id, and the id.
  const nonces = [...(await beneath()).values()].map((bytes) => bytes?.subarray(6, 18).toString('hex'));
  expect(new Set(nonces).size).toBe(2);
});

test('rows are listed by run, with size and age, under their original keys', async () => {
  const store = storeWith('a');
  await writeRow(store, row('run-1'));
  await writeRow(store, row('run-1', { attempt: 2 }));
  await writeRow(store, row('run-2'));
  expect((await rowsOfRun(store, 'run-1')).map(({ attempt }) => attempt)).toEqual([1, 2]);

  const folderOfCall = `ledger/run-1/${'c0'.repeat(32)}/`;
  expect(await store.list(folderOfCall)).toEqual([`${folderOfCall}1.json`, `${folderOfCall}2.json`]);
  const entries = [];
  for await (const entry of store.entries('ledger/')) entries.push(entry);
  expect(entries.map(({ key }) => key).sort()).toEqual(await store.list('ledger/'));
  expect(entries[0]).toEqual(await store.stat(entries[0]?.key ?? ''));
  const shown = [...(await beneath()).entries()].join('\n');
  expect(shown).not.toContain('marked-model');
  expect(shown).not.toContain('c0c0c0');
});

test('a folder that is sharded by a digest can be listed by the shard', async () => {
  const store = storeWith('a');
  const text = await keepText(store, TEXT);
  const fan = typeof text === 'string' ? '' : text.ref.slice(7, 9);
  expect(await store.list(`texts/${fan}/`)).toEqual(await store.list('texts/'));
  expect(await store.list(`texts/${fan === '00' ? '11' : '00'}/`)).toEqual([]);
});

describe('a change of keys', () => {
  test('keeps everything written before readable, and the last write wins', async () => {
    const [before, after] = [storeWith('old', 'new'), storeWith('new', 'old')];
    const text = await keepText(before, TEXT);
    expect(await readText(after, text)).toBe(TEXT);
    await writeRow(before, row('run-1'));
    // Some time passes, as between the attempts of a call.
    ageStore(path, 24 * 60 * 60 * 1000);
    await writeRow(after, row('run-1', { endedAt: '2026-01-01T00:00:01.000Z' }));
    for (const store of [before, after]) {
      const rows = await rowsOfRun(store, 'run-1');
      expect(rows.map(({ endedAt }) => endedAt)).toEqual(['2026-01-01T00:00:01.000Z']);
    }
    // The text is old enough to be written again, under the new key; both copies count as one.
    await keepText(after, TEXT);
    expect(await after.list('texts/')).toHaveLength(1);
    const written = (await beneath()).size;
    await keepText(after, TEXT);
    expect((await beneath()).size).toBe(written);
  });

  test('names the old key to a process that lacks it', async () => {
    await writeRow(storeWith('old'), row('run-1'));
    await storeWith('old').write('index.json', Buffer.from('{}'));
    const sentence = 'was encrypted with key "old", which TEST_KEYS does not hold (it holds new)';
    await expect(rowsOfRun(storeWith('new'), 'run-1')).rejects.toThrow(sentence);
    await expect(storeWith('new').read('index.json')).rejects.toThrow(sentence);
  });

  test('leaves old objects removable under either key', async () => {
    const key = `answers/c0/${'c0'.repeat(32)}.json`;
    for (const store of [storeWith('old'), storeWith('new')]) await store.write(key, Buffer.from('{}'));
    const store = storeWith('new', 'old');
    expect(await store.removeOlder(key, new Date(0))).toBe(0);
    const { bytes = 0 } = (await store.stat(key)) ?? {};
    expect(await store.removeOlder(key, LATER)).toBe(2 * bytes);
    expect(await beneath()).toEqual(new Map());
  });
});

describe('objects that were not written with the key', () => {
  test('are refused for any flipped bit and any cut', async () => {
    const store = storeWith('a');
    await store.write('some/row.json', Buffer.from('{"worker":"a"}'));
    const [name = ''] = await plain.list('');
    const bytes = (await plain.read(name)) ?? Buffer.alloc(0);
    expect(bytes.length).toBeGreaterThan(40);
    for (let at = 0; at < bytes.length; at += 1) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      for (const altered of [flipped, bytes.subarray(0, at)]) {
        await plain.write(name, altered);
        await expect(store.read('some/row.json')).rejects.toThrow(/the stored object some\/row\.json/);
      }
    }
  });

  test('are refused if another object takes their place', async () => {
    const store = storeWith('a');
    await store.write('one.json', Buffer.from('1'));
    await store.write('two.json', Buffer.from('2'));
    await plain.write('one.json', (await plain.read('two.json')) ?? Buffer.alloc(0));
    await expect(store.read('one.json')).rejects.toThrow('it was altered');
  });

  test('are reported as older than the encryption, whether they are read or listed', async () => {
    await writeRow(plain, row('run-1'));
    await plain.write('index.json', Buffer.from('{}'));
    await expect(storeWith('a').read('index.json')).rejects.toThrow(
      "before the store's encryption was switched on",
    );
    await expect(storeWith('a').list('ledger/')).rejects.toThrow('was not written with "encryption"');
  });
});
