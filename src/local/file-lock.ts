import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { tryLock } from 'fs-native-extensions';
import type { Say } from './configured-server';

// The operating system holds the locks: they end with their process, and a stopped process (Ctrl-Z) keeps them.

/** Locks a file until its handle is closed, exclusively or shared. Returns null if another handle has the lock. */
export async function lockFile(path: string, { shared = false } = {}): Promise<FileHandle | null> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'a+', 0o600);
  if (!tryLock(file.fd, { shared })) {
    await file.close();
    return null;
  }
  if (!shared) {
    await file.truncate();
    // The lock holds on a full disk too, where a message about it does not tell whose it is.
    await file.write(String(process.pid)).catch(() => undefined);
  }
  return file;
}

/** Returns the id of the process that holds the exclusive lock on a file. */
export function holderOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => 'unknown');
}

export async function isLocked(path: string): Promise<boolean> {
  const file = await lockFile(path);
  await file?.close();
  return file === null;
}

/** Attempts without a message: contention is short, unless the other command downloads. */
const QUIET_ATTEMPTS = 20;

/** Runs `action` while no other process of this machine runs one on the same folder, and says so if it must wait. */
export async function withFolderLock<T>(folder: string, say: Say, action: () => Promise<T>): Promise<T> {
  const path = join(folder, 'commands.lock');
  let file = await lockFile(path);
  for (let attempt = 1; file === null; attempt += 1) {
    if (attempt === QUIET_ATTEMPTS) {
      const who = `Another command (process ${await holderOf(path)})`;
      say(`${who} is preparing the embedded server of this folder: waiting for it.`);
    }
    await wait(75);
    file = await lockFile(path);
  }
  return action().finally(() => file.close());
}
