import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, readdirSync } from 'node:fs';
import {
  chmod,
  copyFile,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'libsql';
import { checkStore } from '../../src/store/open-store';
import { openDatabase, SqliteStore } from '../../src/store/sqlite-store';
import { freshFolder } from '../local/fresh-folder';

const HELLO = Buffer.from('hello');

let folder: string;
let path: string;
let store: SqliteStore;
beforeEach(async () => {
  folder = await freshFolder();
  path = join(folder, 'new/store.db');
  store = new SqliteStore(path);
});

/** Opens the database as another program would. */
function beneath<T>(work: (database: Database.Database) => T): T {
  const database = new Database(path, { timeout: 30_000 });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

function startWriter(times: number): ChildProcess {
  const program = resolve(__dirname, 'programs/write-on.ts');
  const hook = resolve(__dirname, '../../scripts/run-typescript.cjs');
  return spawn(process.execPath, ['--require', hook, program, path, String(times)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

test('reading does not create a database', async () => {
  expect(await store.read('texts/ab')).toBeNull();
  expect(await store.stat('texts/ab')).toBeNull();
  expect(await store.list('texts/')).toEqual([]);
  expect(await readdir(folder)).toEqual([]);
});

test('the database, its folder and the files beside it are private to the owner and ignored by git', async () => {
  await store.write('texts/ab', HELLO);
  const modes = await Promise.all(
    ['', 'store.db', 'store.db-wal', 'store.db-shm'].map(async (name) => {
      const { mode } = await stat(join(folder, 'new', name));
      return (mode & 0o777).toString(8);
    }),
  );
  expect(modes).toEqual(['700', '600', '600', '600']);
  expect(await readFile(join(folder, 'new/.gitignore'), 'utf8')).toBe('*\n');
});

test('processes that open a new database at once lose no writes', async () => {
  const writers = [1, 2, 3, 4].map(() => startWriter(50));
  const codes = await Promise.all(writers.map(async (writer) => (await once(writer, 'exit'))[0] as number));
  expect(codes).toEqual([0, 0, 0, 0]);
  expect((await store.read('count'))?.toString()).toBe('200');
  expect(await store.list('rows/')).toHaveLength(200);
});

test('what a process wrote before it was killed is kept, and the next one can continue', async () => {
  const writer = startWriter(100_000);
  let written = 0;
  for await (const line of createInterface({ input: writer.stdout ?? process.stdin })) {
    written = Number(line);
    if (written === 100) writer.kill('SIGKILL');
  }
  expect(written).toBeGreaterThanOrEqual(100);
  expect((await store.list('rows/')).length).toBeGreaterThanOrEqual(written);
  expect(Number((await store.read('count'))?.toString())).toBeGreaterThanOrEqual(written);
  await store.write('texts/ab', HELLO);
  expect(beneath((database) => database.pragma('integrity_check'))).toEqual([{ integrity_check: 'ok' }]);
});

test('a writer waits while another process writes, without blocking its program', async () => {
  await store.write('texts/ab', HELLO);
  const other = new Database(path);
  other.exec('BEGIN IMMEDIATE');
  let isWritten = false;
  const written = store.write('texts/cd', HELLO).then(() => (isWritten = true));
  // Timers fire, so the event loop is not blocked.
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setTimeout(done, 1));
  expect(isWritten).toBe(false);
  other.exec('COMMIT');
  other.close();
  await written;
  expect(await store.read('texts/cd')).toEqual(HELLO);
});

test('each commit waits for the disk, on the connection that creates the database and on the next', async () => {
  for (const connection of [await openDatabase(path), await openDatabase(path)]) {
    const asked = connection((query) => query('PRAGMA synchronous'));
    expect(await asked).toEqual([{ synchronous: 2 }]);
  }
});

describe('a store whose file changes while a process has it open', () => {
  const copy = (): string => join(folder, 'copy.db');
  beforeEach(async () => {
    await store.write('texts/ab', HELLO);
    beneath((database) => database.pragma('wal_checkpoint(TRUNCATE)'));
    await copyFile(path, copy());
  });

  test.each([
    ['deleted', () => rm(path)],
    ['replaced by a copy', () => rename(copy(), path)],
    [
      'moved away and made anew',
      () => rename(path, copy()).then(() => new SqliteStore(path).write('texts/cd', HELLO)),
    ],
  ])('takes and gives nothing more once it is %s', async (_, change) => {
    await change();
    const sentence = `the file of sqlite:${path} was deleted or replaced while this process used it`;
    await expect(store.write('texts/ef', HELLO)).rejects.toThrow(sentence);
    await expect(store.create('texts/ef', HELLO)).rejects.toThrow(sentence);
    await expect(store.read('texts/ab')).rejects.toThrow(sentence);
    await expect(store.rates.read('model')).rejects.toThrow(sentence);
    // A process that starts now uses the file that is there.
    const next = new SqliteStore(path);
    expect(await next.read('texts/ef')).toBeNull();
    await next.write('texts/ef', HELLO);
  });

  test('reports nothing as written that was written at the moment of the change', async () => {
    const connection = await openDatabase(path);
    const written = connection(async (query) => {
      await query('DELETE FROM entries');
      await rm(path);
    });
    await expect(written).rejects.toThrow('replaced');
  });

  test('goes on if the same file is moved away and back', async () => {
    await rename(path, copy());
    await expect(store.write('texts/ef', HELLO)).rejects.toThrow('was deleted or replaced');
    await rename(copy(), path);
    await store.write('texts/ef', HELLO);
    expect(await store.read('texts/ab')).toEqual(HELLO);
  });
});

describe('is refused in one sentence that says what to do:', () => {
  const both = async (sentence: string): Promise<void> => {
    await expect(store.read('texts/ab')).rejects.toThrow(sentence);
    await expect(store.write('texts/ab', HELLO)).rejects.toThrow(sentence);
  };

  test('a database of a newer version', async () => {
    await store.write('texts/ab', HELLO);
    beneath((database) => database.pragma('user_version = 7'));
    store = new SqliteStore(path);
    await both(
      `sqlite:${path} was made by a newer version of temporal-conductor ` +
        '(its tables have version 7, but this program knows 1): update',
    );
  });

  test("another program's database, which stays as it is", async () => {
    await mkdir(dirname(path));
    beneath((database) => {
      database.exec('CREATE TABLE albums (name TEXT)');
    });
    await both(`sqlite:${path} is the database of another program: set another file in "store"`);
    expect(beneath((database) => database.prepare('SELECT name FROM sqlite_schema').all())).toEqual([
      { name: 'albums' },
    ]);
  });

  test('a file that is not a database', async () => {
    await mkdir(dirname(path));
    await writeFile(path, 'store: sqlite:.conductor/store.db\n'.repeat(100));
    const remedy = 'restore it from a backup, or set another file in "store"';
    await both(`sqlite:${path} is damaged or not a SQLite database (SQLITE_NOTADB): ${remedy}`);
    await rm(path);
    await store.write('texts/ab', HELLO);
    expect(await store.read('texts/ab')).toEqual(HELLO);
  });

  test('a damaged database', async () => {
    await store.write('texts/ab', Buffer.alloc(100_000, 'x'));
    beneath((database) => database.pragma('wal_checkpoint(TRUNCATE)'));
    const file = await open(path, 'r+');
    await file.write(Buffer.alloc(20_000, 0xff), 0, 20_000, 4096);
    await file.close();
    store = new SqliteStore(path);
    await both(`sqlite:${path} is damaged or not a SQLite database (SQLITE_CORRUPT`);
  });

  test('a folder in place of the database, and a file in place of its folder', async () => {
    await mkdir(path, { recursive: true });
    await both(`sqlite:${path} cannot be opened or written (SQLITE_CANTOPEN)`);
    store = new SqliteStore(join(folder, 'new/store.db/store.db'));
    await rm(path, { recursive: true });
    await writeFile(path, '');
    await expect(store.write('texts/ab', HELLO)).rejects.toThrow('cannot be opened or written (E');
  });

  test('writing to a database that this user may only read, while reading works', async () => {
    await store.write('texts/ab', HELLO);
    await asStranger(async () => {
      store = new SqliteStore(path);
      const refusal = `sqlite:${path} cannot be opened or written (SQLITE_READONLY)`;
      await expect(store.write('texts/ab', HELLO)).rejects.toThrow(refusal);
      expect(await store.read('texts/ab')).toEqual(HELLO);
      await expect(checkStore(`sqlite:${path}`)).rejects.toThrow(refusal);
    });
    await checkStore(`sqlite:${path}`);
  });

  test('a database in a folder where the files beside it cannot be created', async () => {
    await once(startWriter(1), 'exit');
    beneath((database) => database.pragma('wal_checkpoint(TRUNCATE)'));
    await asStranger(async () => {
      await chmod(path, 0o600);
      await expect(checkStore(`sqlite:${path}`)).rejects.toThrow(
        'cannot be opened or written (SQLITE_READONLY): it must be a file that this user can write to, in a folder that they can write to',
      );
    });
  });
});

/** Works as a user who may read everything in the folder and change nothing; as root, switches to another user. */
async function asStranger(work: () => Promise<void>): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  // Synchronous, since files beside a database that was just closed may disappear.
  for (const each of pathsOf(folder)) {
    if (isRoot) chownSync(each, 65_534, 65_534);
    chmodSync(each, 0o500);
  }
  if (isRoot) process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    for (const each of pathsOf(folder)) chmodSync(each, 0o700);
  }
}

function pathsOf(parent: string): string[] {
  const names = readdirSync(parent, { recursive: true, encoding: 'utf8' });
  return [parent, ...names.map((name) => join(parent, name))];
}
