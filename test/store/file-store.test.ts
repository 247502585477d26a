import files, { mkdtemp, readdir, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { FileStore } from '../../src/store/file-store';
import type { StoredEntry } from '../../src/store/store';

const LAST_YEAR = new Date(Date.now() - 365 * 24 * 60 * 60 * 1000);
const YESTERDAY = new Date(Date.now() - 24 * 60 * 60 * 1000);

/** Writes each key anew right after it was looked at, as another process may. */
class HurriedStore extends FileStore {
  override async stat(key: string): Promise<StoredEntry | null> {
    const entry = await super.stat(key);
    await this.write(key, Buffer.from('just written'));
    return entry;
  }
}

describe('FileStore', () => {
  let folder: string;
  let store: FileStore;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'store-'));
    store = new FileStore(folder);
  });

  test('lists no unfinished file', async () => {
    await store.write('ledger/run/a/1.json', Buffer.from('1'));
    await writeFile(join(folder, 'ledger/run/a/.unfinished'), 'half');
    expect(await store.list('ledger/run/')).toEqual(['ledger/run/a/1.json']);
  });

  test('creates on a disk without hard links, too', async () => {
    const refused = Object.assign(new Error('operation not permitted'), { code: 'EPERM' });
    const link = jest.spyOn(files, 'link').mockRejectedValue(refused);
    expect(await store.create('ledger/run/a/1.json', Buffer.from('first'))).toBe(true);
    expect(await store.create('ledger/run/a/1.json', Buffer.from('second'))).toBe(false);
    expect(link).toHaveBeenCalledTimes(2);
    link.mockRestore();
    expect((await store.read('ledger/run/a/1.json'))?.toString()).toBe('first');
  });

  test('is for its owner alone, files and folders', async () => {
    const below = new FileStore(join(folder, 'new/store'));
    await below.write('ledger/run/a/1.json', Buffer.from('1'));
    await below.create('answers/ab/abc.json', Buffer.from('2'));
    const modes = async (path: string): Promise<string[]> => {
      const { mode } = await stat(path);
      const names = (mode & 0o040000) === 0 ? [] : await readdir(path);
      const inside = await Promise.all(names.map((name) => modes(join(path, name))));
      return [`${path.slice(folder.length)} ${(mode & 0o777).toString(8)}`, ...inside.flat()];
    };
    const found = await modes(join(folder, 'new'));
    expect(found).toHaveLength(9);
    expect(found.filter((line) => !/\.json 600$|^[^.]* 700$/.test(line))).toEqual([]);
  });

  test('leaves nothing behind when a write fails', async () => {
    await store.write('place/taken', Buffer.from('a folder is needed here'));
    await expect(store.write('place/taken/below', Buffer.from('x'))).rejects.toThrow();
    expect(await readdir(join(folder, 'place'))).toEqual(['taken']);
  });

  test('many writers of one key leave one file', async () => {
    const values = Array.from({ length: 20 }, (_, index) => String(index).repeat(100_000));
    await Promise.all(values.map((value) => store.write('same/key', Buffer.from(value))));
    expect(await readdir(join(folder, 'same'))).toEqual(['key']);
  });

  test('what is written while its old bytes are being removed stays', async () => {
    await store.write('texts/abc', Buffer.from('old'));
    await utimes(join(folder, 'texts/abc'), LAST_YEAR, LAST_YEAR);
    expect(await new HurriedStore(folder).removeOlder('texts/abc', YESTERDAY)).toBe(0);
    expect((await store.read('texts/abc'))?.toString()).toBe('just written');
    expect(await readdir(join(folder, 'texts'))).toEqual(['abc']);
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
