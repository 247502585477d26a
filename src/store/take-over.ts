import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ConfigError } from '../config/errors';
import { readStoreUrl } from '../config/store-url';
import type { KeyRing } from '../encryption/keys';
import { keyIdOf } from '../encryption/seal';
import { openStore } from './open-store';
import { SqliteStore } from './sqlite-store';
import type { Store, Tally } from './store';
import { eachInParallel } from './sweep';

export interface TakenOver {
  readonly taken: Tally;
  /** What was there already, from an earlier attempt. */
  readonly there: Tally;
}

/**
 * Takes over what lies in a store into another one, each object as it is: encrypted ones stay encrypted, so both stores
 * need the same keys. What is newer wins, so that it can be broken off and run again, also after something was added.
 *
 * A database that is not there yet is made beside its place and moved there when everything is in it: no process takes
 * half of a store for the whole.
 *
 * @param keys those that the other store is used with
 * @param onObject is called with the number of objects looked at so far
 * @throws ConfigError at the first object that is not encrypted with one of these keys, or is though there are none
 */
export async function takeOver(
  from: string,
  to: string,
  keys: KeyRing | undefined,
  onObject: (count: number) => void,
): Promise<TakenOver> {
  const source = openStore(from, process.cwd());
  const place = readStoreUrl(to);
  if (place?.kind !== 'sqlite' || existsSync(place.path)) {
    return copy(source, openStore(to, process.cwd()), keys, onObject);
  }
  const path = resolve(place.path);
  const unfinished = new SqliteStore(`${path}.part`);
  const taken = await copy(source, unfinished, keys, onObject);
  await unfinished.close();
  if (existsSync(`${path}.part`)) await rename(`${path}.part`, path);
  return taken;
}

/**
 * A file's time is that of the kernel's last tick: one that was changed after it was taken over may seem to be older by
 * as much. What was not changed is then taken once more, which does no harm.
 */
const TICK_MS = 10;

async function copy(
  from: Store,
  to: Store,
  keys: KeyRing | undefined,
  onObject: (count: number) => void,
): Promise<TakenOver> {
  const taken = { count: 0, bytes: 0 };
  const there = { count: 0, bytes: 0 };
  let seen = 0;
  await eachInParallel(from.entries(''), async ({ key, modifiedAt }) => {
    onObject((seen += 1));
    const entry = await to.stat(key);
    const isThere = entry !== null && entry.modifiedAt.getTime() >= modifiedAt.getTime() + TICK_MS;
    const bytes = isThere ? null : await from.read(key);
    if (bytes !== null) {
      checkSealed(bytes, { key, from, keys });
      if (entry === null) await to.create(key, bytes);
      else await to.write(key, bytes);
    }
    const tally = isThere ? there : taken;
    tally.count += 1;
    tally.bytes += bytes?.length ?? 0;
  });
  return { taken, there };
}

interface Sealing {
  readonly key: string;
  readonly from: Store;
  readonly keys: KeyRing | undefined;
}

/** What a loss of power left, empty or zeros, tells nothing, and is taken over as it is. */
function checkSealed(bytes: Buffer, { key, from, keys }: Sealing): void {
  const id = keyIdOf(bytes);
  if (keys === undefined) {
    if (id === null) return;
    throw new ConfigError(
      `${from.url} is encrypted with key ${JSON.stringify(id)} (${key}), and this configuration has no "encryption": ` +
        'take it over with the configuration that it was written with',
    );
  }
  if (id !== null) keys.find(id, `the stored object ${key}`);
  else if (bytes.some((byte) => byte !== 0)) {
    throw new ConfigError(
      `${from.url} is not encrypted (${key}), and this configuration has "encryption": take it over without it, or begin ` +
        'with an empty store',
    );
  }
}
