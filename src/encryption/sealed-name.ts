import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { EncryptionKey } from './encryption-key';
import type { KeyRing } from './key-ring';

const COUNTER_BYTES = 16;

/** A SHA-256 in a key, with the two letters of it that spread a folder, where they stand before it. */
const DIGEST = /(?<=^|\/)(?:(?<fan>[0-9a-f]{2})\/(?=\k<fan>))?(?<digest>[0-9a-f]{64})(?=$|[./])/g;
/** The same encrypted: the id of the encryption key, then counter and ciphertext. */
const SEALED =
  /(?<=^|\/)(?:(?<fan>[0-9a-f]{2})\/(?=[^/.]+\.\k<fan>))?(?<id>[A-Za-z0-9][\w-]{0,15})\.(?<sealed>[0-9a-f]{96})(?=$|[./])/g;
/** Two letters that may spread a folder, in a prefix that ends before the digest which would tell, and what follows. */
const UNTOLD_FAN = /(?<=^|\/)(?<fan>[0-9a-f]{2})\/(?!\k<fan>[0-9a-f]{62}(?:$|[./])).*$/;

/**
 * The name under which an encrypted store keeps what belongs to a key.
 *
 * A digest in a name tells whoever can guess the text that the guess is right, and short texts are guessed. So every
 * SHA-256 in a key is encrypted, and `texts/ab/abc…` becomes `texts/7f/KEYID.7f0…`. All else of a key stays, for `list`
 * to work by. The name is the same each time (AES-256-CTR whose first counter is an HMAC of the digest), and
 * `keyOfName` finds the way back.
 */
export function nameOfKey(storeKey: string, key: EncryptionKey): string {
  return storeKey.replace(DIGEST, (...found) => {
    const { fan, digest } = groupsOf(found);
    const sealed = sealDigest(Buffer.from(digest ?? '', 'hex'), key).toString('hex');
    return `${fan === undefined ? '' : `${sealed.slice(0, 2)}/`}${key.id}.${sealed}`;
  });
}

/** A folder that holds the names of all keys with that prefix, under one encryption key, and maybe of others. */
export function folderOfPrefix(prefix: string, key: EncryptionKey): string {
  return nameOfKey(prefix.replace(UNTOLD_FAN, ''), key);
}

/**
 * The key that a name stands for; null for a name that no encrypted store made.
 *
 * @throws UnknownKeyError for a name made with a key that is not among these
 */
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

/** The named groups, which `replace` hands on as the last of its arguments. */
function groupsOf(found: readonly unknown[]): Readonly<Partial<Record<string, string>>> {
  return { ...(found.at(-1) as object) };
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
