/** What lies under one key of a store. */
export interface StoredEntry {
  /** As `write` was given it, however a driver or a wrapper spells it. */
  readonly key: string;
  /** The room it takes. */
  readonly bytes: number;
  /** When it was written last, by the clock of where it lies. */
  readonly modifiedAt: Date;
}

/**
 * Where everything too long or too precious for a workflow history lies: texts, finished answers and the ledger.
 *
 * A small interface on purpose: a driver is one file, and a wrapper (encryption, say) is another store around it.
 * `write` is atomic: a reader sees the old bytes, the new ones or nothing, whatever process dies when.
 */
export interface Store {
  /** For messages and traces, e.g. `file:.conductor/store`. */
  readonly url: string;
  /** null when nothing lies under the key. */
  read(key: string): Promise<Buffer | null>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** What lies under the key, without reading it; null when nothing does. */
  stat(key: string): Promise<StoredEntry | null>;
  /** Every key below `prefix`, a folder-like path that ends with `/`, in ascending order. */
  list(prefix: string): Promise<string[]>;
  /** The same with size and age, folder by folder, as it is found: there may be millions. */
  entries(prefix: string): AsyncIterable<StoredEntry>;
  /**
   * Removes what lies under the key, unless it was written at `than` or later.
   *
   * @returns the bytes that are gone; 0 where nothing was removed
   */
  removeOlder(key: string, than: Date): Promise<number>;
}

const KEY_PART = /^[A-Za-z0-9][A-Za-z0-9._=-]*$/;

/** Whether a key means a place below the store's root, whatever the driver: no part is empty, dotted or otherwise unusual. */
export function isKey(key: string): boolean {
  return key.split('/').every((part) => KEY_PART.test(part) && part.length <= 128);
}

/** @throws Error for what is no key, that says what a key is made of */
export function checkKey(key: string): void {
  if (isKey(key)) return;
  throw new Error(
    `store key ${JSON.stringify(key)} is refused: each part must begin with a letter or digit and hold letters, digits and . _ = - only`,
  );
}

/** Where a configuration says that the store lies. */
export type StorePlace =
  | { readonly kind: 'file'; readonly path: string }
  /** `prefix` is empty, or ends with `/`. */
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string };

/** Bucket names as AWS rules them: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

export const STORE_URL_FORMS = 'file:PATH or s3://BUCKET/PREFIX, e.g. file:.conductor/store';

/** Reads `file:PATH` or `s3://BUCKET[/PREFIX]`; null for anything else. */
export function readStoreUrl(url: string): StorePlace | null {
  const path = /^file:(.+)$/s.exec(url)?.[1];
  if (path !== undefined) return { kind: 'file', path };
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]+)(?:\/(.*?))?\/?$/s.exec(url) ?? [];
  if (!BUCKET.test(bucket)) return null;
  if (prefix === '') return { kind: 's3', bucket, prefix };
  return isKey(prefix) ? { kind: 's3', bucket, prefix: `${prefix}/` } : null;
}
