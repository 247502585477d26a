import { randomUUID } from 'node:crypto';
import {
  constants,
  copyFile,
  link,
  mkdir,
  open,
  opendir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { tryLock } from 'fs-native-extensions';
import { isKey } from '../config/store-url';
import { checkKey, type Store, type StoredEntry, type Tally } from './store';

/**
 * A store in a folder of this machine (or of a shared disk): one file a key.
 *
 * Files are written beside their place and moved there, so a killed process leaves no half-written one. Only what is
 * replaced is flushed to the device: of the rest a loss of power can cost the last moments, as it can in the embedded
 * server's database (SQLite, `synchronous=NORMAL`).
 */
export class FileStore implements Store {
  readonly url: string;
  private readonly root: string;

  constructor(folder: string) {
    this.root = resolve(folder);
    this.url = `file:${folder}`;
  }

  async read(key: string): Promise<Buffer | null> {
    return unlessMissing(readFile(this.pathOf(key)));
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    await this.beside(key, bytes, rename);
  }

  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    return this.beside(key, bytes, linkNew);
  }

  async replace(key: string, bytes: Uint8Array, was: Uint8Array): Promise<boolean> {
    checkKey(key);
    const isReplaced = await unlessMissing(
      whileLocked(join(this.root, LOCK), async () => {
        if (!(await this.read(key))?.equals(was)) return false;
        await this.beside(key, bytes, rename, true);
        return true;
      }),
    );
    return isReplaced ?? false;
  }

  /** Writes a whole file beside its place, and has it put there. */
  private async beside<T>(
    key: string,
    bytes: Uint8Array,
    put: (unfinished: string, path: string) => Promise<T>,
    flush = false,
  ): Promise<T> {
    const path = this.pathOf(key);
    const unfinished = hiddenBeside(path);
    try {
      await writeNew(unfinished, bytes, flush);
      return await put(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  async stat(key: string): Promise<StoredEntry | null> {
    const found = await unlessMissing(stat(this.pathOf(key)));
    return found?.isFile() ? { key, bytes: found.size, modifiedAt: found.mtime } : null;
  }

  async list(prefix: string): Promise<string[]> {
    const keys = [];
    for await (const key of this.keysBelow(prefix)) keys.push(key);
    return keys.sort();
  }

  async *entries(prefix: string): AsyncGenerator<StoredEntry> {
    for await (const key of this.keysBelow(prefix)) {
      const entry = await this.stat(key);
      // Another process may have removed it since the folder was read.
      if (entry !== null) yield entry;
    }
  }

  async removeOlder(key: string, than: Date): Promise<number> {
    const path = this.pathOf(key);
    const entry = await this.stat(key);
    if (entry === null || entry.modifiedAt >= than) return 0;
    // A write between that look and the removal must not be lost: the file is moved out of the way first, so that the
    // second look is at the very file that goes.
    const taken = hiddenBeside(path);
    if ((await unlessMissing(rename(path, taken).then(() => true))) === null) return 0;
    try {
      const { mtime, size } = await stat(taken);
      if (mtime < than) return size;
      await linkNew(taken, path);
      return 0;
    } finally {
      await rm(taken, { force: true });
    }
  }

  async removeUnfinished(than: Date, dryRun: boolean): Promise<Tally> {
    const found = { count: 0, bytes: 0 };
    for await (const path of hiddenBelow(this.root)) {
      const { mtime, size } = (await unlessMissing(stat(path))) ?? { mtime: than, size: 0 };
      if (mtime >= than) continue;
      if (!dryRun) await rm(path, { force: true });
      found.count += 1;
      found.bytes += size;
    }
    return found;
  }

  private async *keysBelow(prefix: string): AsyncGenerator<string> {
    const path = prefix === '' ? this.root : this.pathOf(prefix.replace(/\/$/, ''));
    const folder = await unlessMissing(opendir(path));
    if (folder === null) return;
    for await (const entry of folder) {
      // What is hidden, and what someone else put there.
      if (!isKey(entry.name)) continue;
      if (entry.isDirectory()) yield* this.keysBelow(`${prefix}${entry.name}/`);
      else yield `${prefix}${entry.name}`;
    }
  }

  private pathOf(key: string): string {
    checkKey(key);
    return join(this.root, key);
  }
}

/** A leading dot cannot be part of a key, so what is unfinished or about to go is never listed or read. */
function hiddenBeside(path: string): string {
  return join(dirname(path), `.${randomUUID()}`);
}

const HIDDEN = /^\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Held while what lies in a store is compared and replaced; seldom enough that one for all keys will do. */
const LOCK = '.lock';

/**
 * Does something while no other process does. The operating system holds the lock, so that it ends with its process; it
 * is asked for again and again, since to wait for it takes one of the few threads that whoever holds it needs.
 */
async function whileLocked<T>(path: string, work: () => Promise<T>): Promise<T> {
  const file = await open(path, 'a', 0o600);
  try {
    while (!tryLock(file.fd)) await pause(5);
    return await work();
  } finally {
    await file.close();
  }
}

async function* hiddenBelow(folder: string): AsyncGenerator<string> {
  const entries = await unlessMissing(opendir(folder));
  if (entries === null) return;
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* hiddenBelow(path);
    else if (HIDDEN.test(entry.name)) yield path;
  }
}

/** Most folders are there already: one is made only where it is missing. */
async function writeNew(file: string, bytes: Uint8Array, flush: boolean): Promise<void> {
  const write = () => writeFile(file, bytes, { flag: 'wx', mode: 0o600, flush });
  if ((await unlessMissing(write().then(() => true))) !== null) return;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await write();
}

/** What disks answer that know no second name for a file. */
const NO_LINKS = new Set<unknown>(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Renames a file, unless the other name is taken: by a second name, or a copy where the disk knows none. */
async function linkNew(file: string, path: string): Promise<boolean> {
  try {
    await link(file, path).catch((error: unknown) => {
      if (!NO_LINKS.has(codeOf(error))) throw error;
      return copyFile(file, path, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await unlessMissing(unlink(file));
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** By its code: errors of Node's own modules are no `Error` of another realm (jest, vm). */
function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
