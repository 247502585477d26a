import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';

/** Length of a nonce of AES-GCM (NIST SP 800-38D, 5.2.1.1: the one it is made for). */
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** A text under a key: who lacks the key can neither read it nor alter it unnoticed. */
export interface Sealing {
  readonly key: KeyObject;
  /** Never the same for two different texts or bindings under one key. */
  readonly nonce: Uint8Array;
  /** What the text belongs to: it can be opened only with the same binding. */
  readonly binding?: string;
}

/** Encrypts with AES-256-GCM: nonce, then ciphertext, then the tag of 16 bytes. */
export function seal(plain: Uint8Array, { key, nonce, binding = '' }: Sealing): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(binding));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Opens what `seal` made; null where a single bit is not as it was, or key or binding are others. */
export function unseal(sealed: Uint8Array, key: KeyObject, binding = ''): Buffer | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(binding));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    return null;
  }
}
