import { existsSync, statSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../config/errors';
import type { Config } from '../config/schema';
import { readStoreUrl, STORE_URL_FORMS } from '../config/store-url';
import { configuredKeys, type KeyRing } from '../encryption/keys';
import { EncryptedStore } from './encrypted-store';
import { FileStore } from './file-store';
import { S3Store } from './s3-store';
import type { Store } from './store';

export interface StoreOptions {
  /** Keeps everything encrypted: contents, and the digests in names. Default: as it is. */
  readonly keys?: KeyRing;
}

/**
 * Opens the store a configuration names, e.g. `file:.conductor/store` or `s3://bucket/prefix`; a relative path is taken
 * from `folder`. Nothing is read or written yet.
 *
 * @throws Error for a kind of store there is not
 */
export function openStore(url: string, folder: string, { keys }: StoreOptions = {}): Store {
  const place = readStoreUrl(url);
  if (place === null) throw new Error(`store ${JSON.stringify(url)} is none: expected ${STORE_URL_FORMS}`);
  const store = place.kind === 'file' ? new FileStore(resolve(folder, place.path)) : new S3Store(place);
  return keys === undefined ? store : new EncryptedStore(store, keys);
}

/** The store that a configuration names, encrypted where it says so. */
export function configuredStore(config: Config): Store {
  return openStore(config.store, process.cwd(), { keys: configuredKeys(config) });
}

/**
 * Makes sure that this process can use the store of a configuration: its folder takes files, or its bucket answers.
 * Nothing is written.
 *
 * @throws ConfigError with the reason and the remedy
 */
export async function checkStore(url: string): Promise<void> {
  const place = readStoreUrl(url);
  try {
    if (place?.kind === 'file') await checkFolder(resolve(place.path));
    else await openStore(url, process.cwd()).list('doctor/');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (place?.kind !== 'file') throw new ConfigError(reason, { cause });
    const remedy = 'change its rights or "store" in the configuration';
    throw new ConfigError(`${url} cannot be written (${reason}): ${remedy}`, { cause });
  }
}

async function checkFolder(folder: string): Promise<void> {
  let place = folder;
  while (!existsSync(place)) place = dirname(place);
  if (!statSync(place).isDirectory()) throw new Error(`${place} is no folder`);
  await access(place, constants.W_OK);
}
