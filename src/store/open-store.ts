import { resolve } from 'node:path';
import { FileStore } from './file-store';
import type { Store } from './store';

/**
 * Opens the store a configuration names, e.g. `file:.conductor/store`; a relative path is taken from `folder`.
 *
 * @throws Error for a kind of store this version does not have
 */
export function openStore(url: string, folder: string): Store {
  if (url.startsWith('file:')) return new FileStore(resolve(folder, url.slice('file:'.length)));
  throw new Error(`store ${JSON.stringify(url)} is of an unknown kind: use file:PATH`);
}
