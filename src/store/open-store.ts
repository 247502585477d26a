import { resolve } from 'node:path';
import type { KeyRing } from '../encryption/key-ring';
import { EncryptedStore } from './encrypted-store';
import { FileStore } from './file-store';
import type { Store } from './store';

/** What shall hold for a store whatever its driver. */
export interface StoreOptions {
  /** Keeps everything encrypted: contents, and the digests in names. Default: as it is. */
  readonly keys?: KeyRing | undefined;
}

/**
 * Opens the store a configuration names, e.g. `file:.conductor/store`; a relative path is taken from `folder`.
 *
 * @throws Error for a kind of store this version does not have
 */
export function openStore(url: string, folder: string, { keys }: StoreOptions = {}): Store {
  const store = openPlain(url, folder);
  return keys === undefined ? store : new EncryptedStore(store, keys);
}

function openPlain(url: string, folder: string): Store {
  if (url.startsWith('file:')) return new FileStore(resolve(folder, url.slice('file:'.length)));
  throw new Error(`store ${JSON.stringify(url)} is of an unknown kind: use file:PATH`);
}
