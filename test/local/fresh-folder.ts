import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteStore } from '../../src/store/sqlite-store';
import { atTheEnd } from '../support/at-the-end';

const made: string[] = [];

atTheEnd(() => Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true }))));

/** Makes an empty folder that is removed after the test file. */
export async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'conductor-local-'));
  made.push(folder);
  return folder;
}

/** Makes an empty store in a folder of its own. */
export async function freshStore(): Promise<SqliteStore> {
  return new SqliteStore(join(await freshFolder(), 'store.db'));
}
