import { randomUUID } from 'node:crypto';
import { link, mkdir, open, opendir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { codeOf } from '../errors';
import { isKey, readStoreUrl } from '../config/store-url';
import { checkStoreKey, type Files, keysOf, type StoredEntry } from '../store/store';
import { UNFINISHED_FOLDER } from './store-keys';
import { configuredKeys } from '../encryption/key-ring';
import { nameOfKey, sealContent } from '../encryption/seal';
import { S3Store } from '../store/s3-store';
import { trainingOf } from './config/resolve';
import type { TrainableConfig } from './config/schema';

/** Keeps a file per key, synced and then renamed into place, so that it appears whole; so does `artifacts.py`. */
export class ArtifactFolder implements Files {
  readonly url: string;

  constructor(folder: string) {
    this.url = resolve(folder);
  }

  read(key: string): Promise<Buffer | null> {
    return unlessMissing(readFile(this.pathOf(key)));
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    const path = this.pathOf(key);
    const unfinished = this.newUnfinished();
    await Promise.all([path, unfinished].map((each) => makeFolder(dirname(each))));
    try {
      await writeFile(unfinished, bytes, { flag: 'wx', flush: true });
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
    await syncFolder(dirname(path));
  }

  async stat(key: string): Promise<StoredEntry | null> {
    const found = await unlessMissing(stat(this.pathOf(key)));
    return found?.isFile() === true ? { key, bytes: found.size, modifiedAt: found.mtime } : null;
  }

  async list(prefix: string): Promise<string[]> {
    return (await keysOf(this.entries(prefix))).sort();
  }

  async *entries(prefix: string): AsyncGenerator<StoredEntry> {
    const folder = prefix === '' ? this.url : this.pathOf(prefix.replace(/\/$/, ''));
    const found = await unlessMissing(opendir(folder));
    if (found === null) return;
    for await (const { name } of found) {
      const key = prefix + name;
      if (!isKey(key)) continue;
      const entry = await this.stat(key);
      if (entry === null) yield* this.entries(`${key}/`);
      else yield entry;
    }
  }

  /** Moves the file aside before it checks the age again, so that a concurrent write is kept. */
  async removeOlder(key: string, than: Date): Promise<number> {
    const entry = await this.stat(key);
    if (entry === null || entry.modifiedAt >= than) return 0;
    const aside = this.newUnfinished();
    await makeFolder(dirname(aside));
    await unlessMissing(rename(this.pathOf(key), aside));
    const moved = await unlessMissing(stat(aside));
    const isNew = moved !== null && moved.mtime >= than;
    if (isNew) await link(aside, this.pathOf(key)).catch(() => undefined);
    await rm(aside, { force: true });
    return moved === null || isNew ? 0 : moved.size;
  }

  private newUnfinished(): string {
    return this.pathOf(UNFINISHED_FOLDER + randomUUID());
  }

  private pathOf(key: string): string {
    checkStoreKey(key);
    return join(this.url, key);
  }
}

async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let each = folder; each.length >= first.length; each = dirname(each)) await syncFolder(dirname(each));
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  }
}

export type SealedFiles = Pick<Files, 'write'>;

/** Opens a configuration's artifacts for writing, encrypted if it says so. @throws ConfigError without `training:` */
export function openSealed(config: TrainableConfig): SealedFiles {
  const files = openFiles(trainingOf(config).artifacts);
  const first = configuredKeys(config)?.first;
  if (first === undefined) return files;
  return { write: (key, bytes) => files.write(nameOfKey(key, first), sealContent(bytes, key, first)) };
}

export function openFiles(url: string): Files {
  const place = readStoreUrl(url);
  return place?.kind === 's3' ? new S3Store(place) : new ArtifactFolder(url);
}
