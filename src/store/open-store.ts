import { existsSync, statSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../config/errors';
import type { Config } from '../config/schema';
import { readStoreUrl, STORE_URL_FORMS, type StorePlace, withoutPassword } from '../config/store-url';
import { configuredKeys, type KeyRing } from '../encryption/key-ring';
import { reasonOf } from '../errors';
import { EncryptedStore } from './encrypted-store';
import { PostgresStore } from './postgres-store';
import { S3Store } from './s3-store';
import { SqliteStore } from './sqlite-store';
import type { Store } from './store';

export interface StoreOptions {
  /** Encrypts everything: contents, and the digests in names. Default: no encryption. */
  readonly keys?: KeyRing;
}

/** Opens a store by its URL; `folder` is the base of relative paths. Reads and writes nothing yet. */
export function openStore(url: string, folder: string, { keys }: StoreOptions = {}): Store {
  const place = readStoreUrl(url);
  if (place === null) {
    throw new Error(
      `${JSON.stringify(withoutPassword(url))} is not a store URL: expected ${STORE_URL_FORMS}`,
    );
  }
  const store = openPlace(place, folder);
  return keys === undefined ? store : new EncryptedStore(store, keys);
}

function openPlace(place: StorePlace, folder: string): Store {
  if (place.kind === 's3') return new S3Store(place);
  return place.kind === 'postgres' ? new PostgresStore(place) : new SqliteStore(resolve(folder, place.path));
}

/** Returns the store that a configuration names, encrypted if the configuration says so. */
export function configuredStore(config: Config): Store {
  return openStore(config.store, process.cwd(), { keys: configuredKeys(config) });
}

/** Checks that this process can use a store, without writing. @throws ConfigError with reason and remedy */
export async function checkStore(url: string): Promise<void> {
  const place = readStoreUrl(url);
  try {
    if (place?.kind === 'sqlite' && !existsSync(place.path)) {
      await checkFolder(dirname(resolve(place.path)));
    } else {
      const store = openStore(url, process.cwd());
      await (store.check?.() ?? store.list('doctor/'));
    }
  } catch (cause) {
    throw new ConfigError(reasonOf(cause), { cause });
  }
}

/** @throws Error if no database can be created in a folder, which itself may not exist yet */
async function checkFolder(folder: string): Promise<void> {
  let place = folder;
  while (!existsSync(place)) place = dirname(place);
  const isFolder = statSync(place).isDirectory();
  const isWritable = await access(place, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (isFolder && isWritable) return;
  const [fault, remedy] = isFolder ? ['writable', 'its permissions or '] : ['a folder', ''];
  throw new Error(
    `cannot create a store in ${place}, which is not ${fault}: change ${remedy}"store" in the configuration`,
  );
}
