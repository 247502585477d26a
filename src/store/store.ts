import { isKey } from '../config/store-url';
import type { LedgerSums } from './ledger-sums';
import type { SharedStates } from './shared-states';

/** What lies under one key of a store. */
export interface StoredEntry {
  /** As `write` was given it, however a driver or a wrapper spells it. */
  readonly key: string;
  readonly bytes: number;
  /** By the clock of where it lies. */
  readonly modifiedAt: Date;
}

/**
 * Where everything too long or too precious for a workflow history lies: texts, finished answers and the ledger.
 *
 * A small interface on purpose: a driver is one file, and a wrapper (encryption, say) is another store around it.
 * `write`, `create` and `replace` are atomic: a reader sees the old bytes, the new ones or nothing, whatever process dies
 * when. They return when the disk has what they wrote: no loss of power takes it.
 */
export interface Store {
  /** For messages and traces, e.g. `sqlite:.conductor/store.db`. */
  readonly url: string;
  /** null when nothing lies under the key. */
  read(key: string): Promise<Buffer | null>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** Writes only where nothing lies under the key: of many that do so at once, one is told `true`. */
  create(key: string, bytes: Uint8Array): Promise<boolean>;
  /**
   * Writes only where exactly `was`, as `read` gave it, lies under the key: of many that do so at once, one is told `true`.
   */
  replace(key: string, bytes: Uint8Array, was: Uint8Array): Promise<boolean>;
  /** What lies under the key, without reading it; null when nothing does. */
  stat(key: string): Promise<StoredEntry | null>;
  /** Every key below `prefix`, a folder-like path that ends with `/`, or ''; in ascending order. */
  list(prefix: string): Promise<string[]>;
  /** The same with size and age, folder by folder, as it is found: there may be millions. */
  entries(prefix: string): AsyncIterable<StoredEntry>;
  /**
   * Removes what lies under the key, unless it was written at `than` or later.
   *
   * @returns the bytes that are gone; 0 where nothing was removed
   */
  removeOlder(key: string, than: Date): Promise<number>;
  /** Where a store of this kind can look into the rows that it holds. */
  readonly ledger?: LedgerSums;
  /** Where all processes of a store of this kind can share the rates of models. */
  readonly rates?: SharedStates | undefined;
  /** Makes sure that this process may read and write, and writes nothing; where that says more than reading. */
  check?(): Promise<void>;
  /** Makes the tables of a store, or brings them to this version, where that is not done by itself. */
  migrate?(): Promise<Migration>;
}

/** From which version of the tables to which one; null: there were none. */
export interface Migration {
  readonly from: number | null;
  readonly to: number;
}

/** @throws Error that says what a key is made of, for what is none */
export function checkKey(key: string): void {
  if (isKey(key)) return;
  throw new Error(
    `store key ${JSON.stringify(key)} is refused: each part must begin with a letter or digit and hold letters, digits and . _ = - only`,
  );
}

/**
 * The JSON under a key; null where nothing lies there.
 *
 * @throws Error for what is no JSON: a store writes an entry whole or not at all, so it was altered
 */
export async function readJson(store: Store, key: string): Promise<unknown> {
  const bytes = await store.read(key);
  if (bytes === null) return null;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Error(`${key} in the store ${store.url} was altered, and is no JSON any more: put back a copy`);
  }
}
