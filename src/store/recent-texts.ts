import { LRUCache } from 'lru-cache';
import type { Store } from './store';

/** Bytes of texts that are held for each store. */
const MOST_BYTES = 16 * 1024 * 1024;

const byStore = new WeakMap<Store, LRUCache<string, string>>();

/**
 * Returns the texts that this process kept or read last, by reference: each turn of a step reads all turns before it, and
 * steps see the same outputs. A reference is the digest of its text, so that no entry can be out of date.
 */
export function recentTexts(store: Store): LRUCache<string, string> {
  let texts = byStore.get(store);
  if (texts === undefined) {
    texts = new LRUCache({ maxSize: MOST_BYTES, sizeCalculation: (text) => Buffer.byteLength(text) });
    byStore.set(store, texts);
  }
  return texts;
}
