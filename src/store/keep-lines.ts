import { createHash } from 'node:crypto';
import type { Store } from './store';

/** Keeps values as JSON lines under a key made of their digest, so that equal ones are there once. */
export async function keepLines(
  store: Store,
  values: readonly unknown[],
  keyOf: (sha256: string) => string,
): Promise<{ readonly key: string; readonly sha256: string }> {
  const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const key = keyOf(sha256);
  await store.write(key, bytes);
  return { key, sha256 };
}
