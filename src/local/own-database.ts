import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { reasonOf } from '../errors';
import type { Say } from './configured-server';

// A folder from someone else may bring a database, whose open runs would continue with this user's keys. So each
// folder has a random id, and this user's state records the inode of the database for that id: a copy has another
// inode. The device is left out, since some file systems change its number at restarts.

/** Record by the id of a folder: the inode of its database; null before the database is made. */
function recordOf(id: string): Memory<{ inode: string | null }> {
  return { file: join('databases', `${id}.json`), schema: z.object({ inode: z.string().nullable() }) };
}

/** Whether this user made the folder's database on this machine or vouched for it. If none exists yet, claims it. */
export async function isOwnDatabase(folder: string, say: Say): Promise<boolean> {
  const inode = await inodeOf(folder);
  if (inode === null) {
    await claimDatabase(folder, say);
    return true;
  }
  const id = await readId(folder);
  const known = id === null ? null : await recall(recordOf(id));
  if (id === null || known === null) return false;
  if (known.inode !== null) return known.inode === inode;
  await claimDatabase(folder, say, id);
  return true;
}

/** Marks the folder's database, whether it exists or is about to be made, as this user's own. */
export async function claimDatabase(folder: string, say: Say, id: string = randomUUID()): Promise<void> {
  try {
    await keep(recordOf(id), { inode: await inodeOf(folder) });
    await writeFile(idPath(folder), `${id}\n`, { mode: 0o600 });
  } catch (error) {
    say(`Could not record that ${folder} is yours (${reasonOf(error)}): you will be asked again next time.`);
  }
}

export function databasePath(folder: string): string {
  return join(folder, 'temporal.db');
}

function idPath(folder: string): string {
  return join(folder, 'id');
}

async function readId(folder: string): Promise<string | null> {
  const text = await readFile(idPath(folder), 'utf8').catch(() => '');
  return z.uuid().safeParse(text.trim()).data ?? null;
}

async function inodeOf(folder: string): Promise<string | null> {
  const found = await stat(databasePath(folder), { bigint: true }).catch(() => null);
  return found && String(found.ino);
}

/** State that commands keep of this user across all folders. */
interface Memory<Value> {
  readonly file: string;
  readonly schema: z.ZodType<Value>;
}

/** Returns a path outside of every folder that could bring its own file. */
function pathOf({ file }: Memory<unknown>): string {
  const state = process.env.XDG_STATE_HOME ?? '';
  // The XDG Base Directory Specification demands that a relative path is ignored.
  return join(isAbsolute(state) ? state : join(homedir(), '.local', 'state'), 'temporal-conductor', file);
}

/** Returns null if the file is missing or incomplete. */
export async function recall<Value>(memory: Memory<Value>): Promise<Value | null> {
  try {
    return memory.schema.parse(JSON.parse(await readFile(pathOf(memory), 'utf8')));
  } catch {
    return null;
  }
}

export async function keep<Value>(memory: Memory<Value>, value: Value): Promise<void> {
  const path = pathOf(memory);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, path);
}
