import { createHash } from 'node:crypto';
import type { Store } from '../../store/store';

/** Bytes in the store, and what they hash to: what the trainer is told of a file. */
export interface StoredData {
  readonly key: string;
  readonly sha256: string;
}

/** Keeps values as JSON lines under a key that their digest is part of, so that the same are there once. */
export async function keepLines(
  store: Store,
  values: readonly unknown[],
  keyOf: (sha256: string) => string,
): Promise<StoredData> {
  const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const key = keyOf(sha256);
  if ((await store.stat(key)) === null) await store.write(key, bytes);
  return { key, sha256 };
}
