import { randomUUID } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { checkKey, type Store } from './store';

/**
 * A store in a folder of this machine (or of a shared disk): one file a key.
 *
 * Files are written beside their place and moved there, so a killed process leaves no half-written one. They are
 * not flushed to the device: a loss of power can lose the last moments, as it can for the embedded server's
 * database (SQLite, `synchronous=NORMAL`).
 */
export class FileStore implements Store {
  readonly url: string;
  private readonly root: string;

  constructor(folder: string) {
    this.root = resolve(folder);
    this.url = `file:${folder}`;
  }

  async has(key: string): Promise<boolean> {
    return (await unlessMissing(access(this.pathOf(key)).then(() => true))) ?? false;
  }

  async read(key: string): Promise<Buffer | null> {
    return unlessMissing(readFile(this.pathOf(key)));
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    const path = this.pathOf(key);
    await mkdir(dirname(path), { recursive: true });
    // A leading dot cannot be part of a key, so unfinished files are never listed or read.
    const unfinished = join(dirname(path), `.${randomUUID()}`);
    try {
      await writeFile(unfinished, bytes, { flag: 'wx', mode: 0o600 });
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  async list(prefix: string): Promise<string[]> {
    const folder = this.pathOf(prefix.replace(/\/$/, ''));
    const entries = (await unlessMissing(readdir(folder, { withFileTypes: true }))) ?? [];
    const visible = entries.filter((entry) => !entry.name.startsWith('.'));
    const nested = await Promise.all(
      visible.map(async (entry) =>
        entry.isDirectory() ? this.list(`${prefix}${entry.name}/`) : [`${prefix}${entry.name}`],
      ),
    );
    return nested.flat().sort();
  }

  private pathOf(key: string): string {
    checkKey(key);
    return join(this.root, key);
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    // By its code: errors of Node's own modules are no `Error` of another realm (jest, vm).
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT')
      return null;
    throw error;
  }
}
