import type { KeyRing } from '../../src';
import { readEncryptionKeys } from '../../src/encryption/key-ring';

/** The variable that the keys of these tests are said to come from. */
export const KEYS_VARIABLE = 'TEST_KEYS';

/** Value of the variable for keys of these ids, the first one first. Each id is one key in every test. */
export function keysText(...ids: readonly string[]): string {
  return ids.map((id) => `${id}:${secretOf(id)}`).join(',');
}

/** The secret of a key in base64, to be searched for. */
export function secretOf(id: string): string {
  return Buffer.alloc(32, `a secret of key ${id}, `).toString('base64');
}

/** A ring of such keys. */
export function keyRing(...ids: readonly string[]): KeyRing {
  return readEncryptionKeys(KEYS_VARIABLE, { [KEYS_VARIABLE]: keysText(...ids) });
}
