import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { reasonOf } from '../errors';
import type { Say } from './configured-server';

// A stranger's folder may bring a database, whose open runs would go on with this user's keys. So each folder has a
// random id, and this user's state says which file (its inode) was the database of that id: a copy is another file. The
// device is left out, since some file systems change its number at restarts.

/** By the id of a folder: the inode of its database; null from before the database is made. */
function recordOf(id: string): Memory<{ inode: string | null }> {
  return { file: join('databases', `${id}.json`), schema: z.object({ inode: z.string().nullable() }) };
}

/** Whether this user made the folder's database on this machine, or vouched for it. One that is yet to be made is. */
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

/** Has the folder's database, as it is or is about to be, count as this user's own. */
export async function claimDatabase(folder: string, say: Say, id: string = randomUUID()): Promise<void> {
  try {
    await keep(recordOf(id), { inode: await inodeOf(folder) });
    await writeFile(idPath(folder), `${id}\n`, { mode: 0o600 });
  } catch (error) {
    say(`That ${folder} is yours could not be remembered (${reasonOf(error)}): it will be asked for again.`);
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

/** What commands remember of this user in every folder. */
interface Memory<Value> {
  readonly file: string;
  readonly schema: z.ZodType<Value>;
}

/** Outside of every folder that could bring its own. */
function pathOf({ file }: Memory<unknown>): string {
  const state = process.env.XDG_STATE_HOME ?? '';
  // A relative one counts as none, as the XDG Base Directory Specification demands.
  return join(isAbsolute(state) ? state : join(homedir(), '.local', 'state'), 'temporal-conductor', file);
}

/** Null if nothing is there, or not the whole of it. */
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
