import { join } from 'node:path';
import { lock } from 'proper-lockfile';
import { codeOf } from './reason-of';
import type { Say } from './say';

/** The lock of a killed process is taken over after this long. The shortest that the library allows. */
const STALE_MS = 5_000;

/**
 * Runs `action` while no other process of this machine runs one on the same folder.
 * It waits for its turn as long as the other lives, and says so once, since the other may be downloading.
 */
export async function withFolderLock<T>(folder: string, say: Say, action: () => Promise<T>): Promise<T> {
  let lose: (error: Error) => void = () => undefined;
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  // Nobody may be listening any more when it is lost.
  lost.catch(() => undefined);

  const release = await acquire(folder, say, lose);
  try {
    return await Promise.race([action(), lost]);
  } finally {
    await release();
  }
}

async function acquire(
  folder: string,
  say: Say,
  onCompromised: (error: Error) => void,
): Promise<() => Promise<void>> {
  const options = { lockfilePath: join(folder, 'lock'), stale: STALE_MS, onCompromised };
  try {
    return await lock(folder, { ...options, retries: { retries: 20, minTimeout: 50, maxTimeout: 100 } });
  } catch (error) {
    if (codeOf(error) !== 'ELOCKED') throw error;
    say('Another command is preparing the embedded server of this folder: waiting for it.');
    return lock(folder, { ...options, retries: { forever: true, minTimeout: 100, maxTimeout: 250 } });
  }
}
