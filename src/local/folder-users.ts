import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { processMark, stillRuns } from './process-mark';

const folderUserSchema = z.object({ pid: z.int().positive(), mark: z.string(), stays: z.boolean() });

/** A process that uses a folder's server; `stays` when it runs until it is told to stop, as `up` does. */
export type FolderUser = z.infer<typeof folderUserSchema>;

/** Enters this process among the users of a folder and returns what takes it out again. */
export async function enterFolder(folder: string, stays: boolean): Promise<() => Promise<void>> {
  const mark = await processMark(process.pid);
  if (mark === null) throw new Error(`The operating system does not tell when process ${process.pid} began.`);
  const user: FolderUser = { pid: process.pid, mark, stays };
  const path = join(usersFolder(folder), randomUUID());
  await mkdir(usersFolder(folder), { recursive: true });
  await writeFile(path, JSON.stringify(user));
  return () => rm(path, { force: true });
}

/** The users of a folder that still run. Entries of others, killed before they could leave, are cleared away. */
export async function liveUsers(folder: string): Promise<FolderUser[]> {
  const names = await readdir(usersFolder(folder)).catch(() => []);
  const users = await Promise.all(names.map((name) => liveUser(join(usersFolder(folder), name))));
  return users.filter((user) => user !== null);
}

async function liveUser(path: string): Promise<FolderUser | null> {
  const user = await readUser(path);
  if (user !== null && (await stillRuns(user.pid, user.mark))) return user;
  await rm(path, { force: true });
  return null;
}

async function readUser(path: string): Promise<FolderUser | null> {
  try {
    return folderUserSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    // Half written by a process that was killed: it is not among the living.
    return null;
  }
}

function usersFolder(folder: string): string {
  return join(folder, 'users');
}
