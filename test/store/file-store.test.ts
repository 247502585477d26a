import { mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { FileStore } from '../../src/store/file-store';

describe('FileStore', () => {
  let folder: string;
  let store: FileStore;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'store-'));
    store = new FileStore(folder);
  });

  test('gives back what was written, and null where nothing was', async () => {
    await store.write('texts/ab/abc', Buffer.from('hello'));
    expect((await store.read('texts/ab/abc'))?.toString()).toBe('hello');
    expect(await store.stat('texts/ab/abc')).toMatchObject({ key: 'texts/ab/abc', bytes: 5 });
    expect(await store.read('texts/ab/other')).toBeNull();
    expect(await store.stat('texts/ab/other')).toBeNull();
  });

  test('lists the keys below a prefix, in order, and no unfinished file', async () => {
    await store.write('ledger/run/b/1.json', Buffer.from('1'));
    await store.write('ledger/run/a/1.json', Buffer.from('2'));
    await writeFile(join(folder, 'ledger/run/a/.unfinished'), 'half');
    expect(await store.list('ledger/run/')).toEqual(['ledger/run/a/1.json', 'ledger/run/b/1.json']);
    expect(await store.list('ledger/nobody/')).toEqual([]);
  });

  test('leaves nothing behind when a write fails', async () => {
    await store.write('place/taken', Buffer.from('a folder is needed here'));
    await expect(store.write('place/taken/below', Buffer.from('x'))).rejects.toThrow();
    expect(await readdir(join(folder, 'place'))).toEqual(['taken']);
  });

  test('many writers of one key leave one whole value', async () => {
    const values = Array.from({ length: 20 }, (_, index) => String(index).repeat(100_000));
    await Promise.all(values.map((value) => store.write('same/key', Buffer.from(value))));
    expect(values).toContain((await store.read('same/key'))?.toString());
    expect(await readdir(join(folder, 'same'))).toEqual(['key']);
  });

  test.each([
    '',
    '/',
    '../up',
    'a/../../b',
    '/etc/passwd',
    'a//b',
    '.hidden',
    'a/.b',
    'a\\b',
    'a\0b',
    'a/',
    'x'.repeat(200),
  ])('refuses the key %j', async (key) => {
    await expect(store.write(key, Buffer.from('x'))).rejects.toThrow(/refused/);
    await expect(store.read(key)).rejects.toThrow(/refused/);
    await expect(store.stat(key)).rejects.toThrow(/refused/);
  });

  test('whatever the key, nothing is written outside the folder', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'outside-'));
    await symlink(outside, join(tmpdir(), `link-${String(process.pid)}`)).catch(() => undefined);
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom('.', '/', '\\', 'a', '~', '%', '\0', ' ') }),
        async (key) => {
          await store.write(key, Buffer.from('x')).catch(() => undefined);
          expect(await readdir(outside)).toEqual([]);
          const parent = await readdir(join(folder, '..'));
          expect(parent.filter((name) => name === 'a')).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });
});
