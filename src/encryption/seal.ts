import { createCipheriv, createDecipheriv, createHmac, type KeyObject } from 'node:crypto';
import { ConductorError } from '../errors';
import type { EncryptionKey, KeyRing } from './key-ring';

/** Nonce length that AES-GCM is designed for (NIST SP 800-38D, 5.2.1.1). */
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/**
 * Encrypts with AES-256-GCM into nonce, ciphertext and tag. Only the same key and binding open the result. Never use
 * one nonce with two different texts or bindings under one key.
 */
export function seal(plain: Uint8Array, key: KeyObject, nonce: Uint8Array, binding = ''): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(binding));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Opens what `seal` made. Returns null if a single bit was altered, or if the key or the binding differs. */
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

/** Mark at the beginning of every encrypted object. */
const MARK = Buffer.from('TCE1');

class AlteredContentError extends ConductorError {
  override readonly name = 'AlteredContentError';
  readonly code = 'AlteredContent';
}

/**
 * Returns the stored bytes of a key: `TCE1`, the length of the encryption key's id in one byte, that id, a nonce of 12
 * bytes, the AES-256-GCM ciphertext, and the tag of 16 bytes. They open only under their own store key, so that no
 * object can replace another.
 *
 * The nonce is an HMAC of store key and content. Equal contents give equal bytes, whichever process writes them, and
 * two contents do not share a nonce. The bytes thus reveal whether a content is the same as before, and its length.
 */
export function sealContent(plain: Uint8Array, storeKey: string, key: EncryptionKey): Buffer {
  const binding = Buffer.from(storeKey);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(binding.length);
  const digest = createHmac('sha256', key.contentNonce).update(length).update(binding).update(plain).digest();
  const sealed = seal(plain, key.content, digest.subarray(0, NONCE_BYTES), storeKey);
  const id = Buffer.from(key.id);
  return Buffer.concat([MARK, Buffer.of(id.length), id, sealed]);
}

/** Returns the id of the encryption key that content names, or null if it is not encrypted. */
function keyIdOf(bytes: Buffer): string | null {
  const start = MARK.length + 1;
  if (!bytes.subarray(0, MARK.length).equals(MARK)) return null;
  return bytes.subarray(start, start + (bytes[MARK.length] ?? 0)).toString('utf8');
}

/** @throws UnknownKeyError, or AlteredContentError if a single bit was altered or the content was never encrypted */
export function openContent(bytes: Buffer, storeKey: string, keys: KeyRing): Buffer {
  const id = keyIdOf(bytes);
  if (id === null) {
    throw new AlteredContentError(
      `the stored object ${storeKey} is not encrypted: it was written before the store's encryption was switched on; ` +
        'name another store, or read this one without "encryption"',
    );
  }
  const { content } = keys.find(id, `the stored object ${storeKey}`);
  const end = MARK.length + 1 + Buffer.byteLength(id);
  const plain = unseal(bytes.subarray(end), content, storeKey);
  if (plain !== null) return plain;
  throw new AlteredContentError(
    `the stored object ${storeKey} cannot be decrypted with key ${JSON.stringify(id)}, which it names: it was altered, ` +
      'or the id stands for two different keys; bring it back from a copy, or give every process the same keys',
  );
}

const COUNTER_BYTES = 16;

/** SHA-256 in a key, with the folder of its first two letters before it, if there is one. */
const DIGEST = /(?<=^|\/)(?:(?<fan>[0-9a-f]{2})\/(?=\k<fan>))?(?<digest>[0-9a-f]{64})(?=$|[./])/g;
/** Encrypted digest: the id of the encryption key, then counter and ciphertext. */
const SEALED =
  /(?<=^|\/)(?:(?<fan>[0-9a-f]{2})\/(?=[^/.]+\.\k<fan>))?(?<id>[A-Za-z0-9][\w-]{0,15})\.(?<sealed>[0-9a-f]{96})(?=$|[./])/g;
/** Possible folder of that kind in a prefix that ends before the digest would confirm it, and all that follows it. */
const OPEN_FAN = /(?<=^|\/)(?<fan>[0-9a-f]{2})\/(?!\k<fan>[0-9a-f]{62}(?:$|[./])).*$/s;

/**
 * Returns the name under which an encrypted store keeps the entry of a key.
 *
 * A digest in a name confirms a guess of the text, and short texts can be guessed. So every SHA-256 in a key is
 * encrypted, and `texts/ab/abc…` becomes `texts/7f/KEYID.7f0…`; the rest of a key stays readable, for `list`. The name
 * is deterministic (AES-256-CTR whose first counter is an HMAC of the digest), and `keyOfName` reverses it. For a key
 * with two other letters before a digest, this could fail; no key of ours is like that.
 */
export function nameOfKey(storeKey: string, key: EncryptionKey): string {
  return storeKey.replace(DIGEST, (...found) => {
    const { fan, digest } = groupsOf(found);
    const sealed = sealDigest(Buffer.from(digest ?? '', 'hex'), key).toString('hex');
    return `${fan === undefined ? '' : `${sealed.slice(0, 2)}/`}${key.id}.${sealed}`;
  });
}

/** Returns a folder that holds all names of keys with that prefix under one encryption key, and maybe other names. */
export function folderOfPrefix(prefix: string, key: EncryptionKey): string {
  return nameOfKey(prefix.replace(OPEN_FAN, ''), key);
}

/** Returns the key that a name stands for, or null if no encrypted store made the name. @throws UnknownKeyError */
export function keyOfName(name: string, keys: KeyRing): string | null {
  let isGenuine = name.search(DIGEST) === -1;
  const storeKey = name.replace(SEALED, (...found) => {
    const { fan, id = '', sealed = '' } = groupsOf(found);
    const digest = openDigest(Buffer.from(sealed, 'hex'), keys.find(id, `the stored object ${name}`));
    isGenuine &&= digest !== null;
    const hex = digest?.toString('hex') ?? '';
    return `${fan === undefined ? '' : `${hex.slice(0, 2)}/`}${hex}`;
  });
  return isGenuine ? storeKey : null;
}

/** Returns the named groups, which `replace` passes as its last argument. */
function groupsOf(found: readonly unknown[]): Readonly<Partial<Record<string, string>>> {
  return found.at(-1) as Partial<Record<string, string>>;
}

function sealDigest(digest: Buffer, key: EncryptionKey): Buffer {
  const counter = counterOf(digest, key);
  const cipher = createCipheriv('aes-256-ctr', key.name, counter);
  return Buffer.concat([counter, cipher.update(digest), cipher.final()]);
}

function openDigest(sealed: Buffer, key: EncryptionKey): Buffer | null {
  const counter = sealed.subarray(0, COUNTER_BYTES);
  const decipher = createDecipheriv('aes-256-ctr', key.name, counter);
  const digest = Buffer.concat([decipher.update(sealed.subarray(COUNTER_BYTES)), decipher.final()]);
  return counterOf(digest, key).equals(counter) ? digest : null;
}

function counterOf(digest: Buffer, key: EncryptionKey): Buffer {
  return createHmac('sha256', key.nameCounter).update(digest).digest().subarray(0, COUNTER_BYTES);
}
