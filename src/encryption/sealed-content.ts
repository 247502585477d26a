import { createHmac, type KeyObject } from 'node:crypto';
import type { EncryptionKey } from './encryption-key';
import type { KeyRing } from './key-ring';
import { NONCE_BYTES, seal, unseal } from './seal';

/** What every encrypted object of a store begins with. */
const MARK = Buffer.from('TCE1');

/** A stored object is not what an encrypted store wrote under its key. */
class AlteredContentError extends Error {
  override readonly name = 'AlteredContentError';
}

/**
 * The bytes that lie in the store for a key: `TCE1`, the length of the encryption key's id in one byte, that id, a nonce
 * of 12 bytes, the AES-256-GCM ciphertext, and the tag of 16 bytes. It opens under its own store key alone, so that
 * nobody can put one object in the place of another.
 *
 * The nonce is an HMAC of store key and content: what is equal has equal bytes, whoever writes it, and no nonce ever
 * meets two contents. So it tells whether a content is the same as before, and nothing else.
 */
export function sealContent(plain: Uint8Array, storeKey: string, key: EncryptionKey): Buffer {
  const nonce = nonceOf(plain, storeKey, key.contentNonce);
  const id = Buffer.from(key.id);
  return Buffer.concat([
    MARK,
    Buffer.of(id.length),
    id,
    seal(plain, { key: key.content, nonce, binding: storeKey }),
  ]);
}

/**
 * The content again.
 *
 * @throws UnknownKeyError where it was encrypted with a key that is not among these
 * @throws AlteredContentError where a single bit is not as it was, and where it was never encrypted
 */
export function openContent(bytes: Buffer, storeKey: string, keys: KeyRing): Buffer {
  const start = MARK.length + 1;
  if (!bytes.subarray(0, MARK.length).equals(MARK)) {
    throw new AlteredContentError(
      `the stored object ${storeKey} is not encrypted: it was written before the store's encryption was switched on; ` +
        'name another store, or read this one without "encryption"',
    );
  }
  const end = start + (bytes[MARK.length] ?? 0);
  const id = bytes.subarray(start, end).toString('utf8');
  const { content } = keys.find(id, `the stored object ${storeKey}`);
  const plain = unseal(bytes.subarray(end), content, storeKey);
  if (plain !== null) return plain;
  throw new AlteredContentError(
    `the stored object ${storeKey} cannot be decrypted with key ${JSON.stringify(id)}, which it names: it was altered, ` +
      'or the id stands for two different keys; bring it back from a copy, or give every process the same keys',
  );
}

function nonceOf(plain: Uint8Array, storeKey: string, key: KeyObject): Buffer {
  const binding = Buffer.from(storeKey);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(binding.length);
  const digest = createHmac('sha256', key).update(length).update(binding).update(plain).digest();
  return digest.subarray(0, NONCE_BYTES);
}
