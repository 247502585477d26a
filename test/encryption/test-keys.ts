import type { KeyRing } from '../../src';
import { readEncryptionKeys } from '../../src/encryption/key-ring';

/** Name of the variable that the keys of these tests come from. */
export const KEYS_VARIABLE = 'TEST_KEYS';

/** Returns the variable's value for keys with these ids, in this order. An id stands for the same key in every test. */
export function keysText(...ids: readonly string[]): string {
  return ids.map((id) => `${id}:${secretOf(id)}`).join(',');
}

/** Returns the secret of a key in base64, for tests to search for. */
export function secretOf(id: string): string {
  return Buffer.alloc(32, `a secret of key ${id}, `).toString('base64');
}

/** Returns a ring of these keys. */
export function keyRing(...ids: readonly string[]): KeyRing {
  return readEncryptionKeys(KEYS_VARIABLE, { [KEYS_VARIABLE]: keysText(...ids) });
}
