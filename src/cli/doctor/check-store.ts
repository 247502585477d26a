import { existsSync, statSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { reasonOf } from '../../local/reason-of';
import type { Config } from '../../pool/config-schema';
import { openStore } from '../../store/open-store';
import { readStoreUrl } from '../../store/store-url';
import { broken, fine, type Finding } from './finding';

/** Whether the store is there for this process: its folder takes files, or its bucket answers. Nothing is written. */
export async function checkStore({ store }: Pick<Config, 'store'>): Promise<Finding> {
  const place = readStoreUrl(store);
  return place?.kind === 'file' ? checkFolder(store, resolve(place.path)) : checkBucket(store);
}

/** The nearest folder above one that does not exist yet is what counts. */
async function checkFolder(store: string, folder: string): Promise<Finding> {
  try {
    const place = nearestExisting(folder);
    if (!statSync(place).isDirectory()) throw new Error(`${place} is no folder`);
    await access(place, constants.W_OK);
    return fine('Store', store);
  } catch (error) {
    return broken(
      'Store',
      `${store} cannot be written (${reasonOf(error)}): change its rights or "store" in the configuration`,
    );
  }
}

async function checkBucket(store: string): Promise<Finding> {
  try {
    await openStore(store, process.cwd()).list('doctor/');
    return fine('Store', `${store} answers`);
  } catch (error) {
    return broken('Store', reasonOf(error));
  }
}

function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(dirname(folder));
}
