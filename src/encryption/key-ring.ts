import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { ConfigError } from '../config/errors';
import type { Config } from '../config/schema';
import { ConductorError } from '../errors';

const KEY_BYTES = 32;

/**
 * Secret with an id, and a key derived from it for each purpose (HKDF-SHA-256, RFC 5869, without salt, `info` =
 * `temporal-conductor PURPOSE`). Holds key objects, not bytes, so that logging one reveals no secret.
 */
export class EncryptionKey {
  /** AES-256-GCM key of payloads that travel through Temporal. */
  readonly payload: KeyObject;
  /** AES-256-GCM key of contents in the store, and HMAC-SHA-256 key of their nonces. */
  readonly content: KeyObject;
  readonly contentNonce: KeyObject;
  /** AES-256-CTR key of digests in the names of stored objects, and HMAC-SHA-256 key of its counters. */
  readonly name: KeyObject;
  readonly nameCounter: KeyObject;

  constructor(
    readonly id: string,
    secret: Uint8Array,
  ) {
    const derive = (purpose: string): KeyObject => {
      const derived = hkdfSync('sha256', secret, '', `temporal-conductor ${purpose}`, KEY_BYTES);
      return createSecretKey(Buffer.from(derived));
    };
    this.payload = derive('payload');
    this.content = derive('content');
    this.contentNonce = derive('content nonce');
    this.name = derive('name');
    this.nameCounter = derive('name counter');
  }
}

/** Thrown for data encrypted with a key that this process does not hold; another process may hold it. */
export class UnknownKeyError extends ConductorError {
  override readonly name = 'UnknownKeyError';
  readonly code = 'UnknownKey';
}

/**
 * Keys of one process. The first encrypts and all of them decrypt, so that keys can be changed without a pause:
 *
 * 1. add the new key in second place, everywhere: from then on, every process can read what it will encrypt;
 * 2. move it to first place, everywhere;
 * 3. remove the old key once nothing that it encrypted is left: runs within the server's retention, stored texts and
 *    answers (`store gc`), and the ledger, whose rows are never removed.
 */
export class KeyRing {
  /** @param source name of the environment variable that held the keys, for messages */
  constructor(
    readonly all: readonly [first: EncryptionKey, ...others: EncryptionKey[]],
    private readonly source: string,
  ) {}

  get first(): EncryptionKey {
    return this.all[0];
  }

  /** @throws UnknownKeyError with a sentence that begins with `what`, e.g. `a payload` */
  find(id: string, what: string): EncryptionKey {
    const key = this.all.find((each) => each.id === id);
    if (key !== undefined) return key;
    throw new UnknownKeyError(
      `${what} was encrypted with key ${JSON.stringify(id)}, which ${this.source} does not hold ` +
        `(it holds ${this.all.map((each) => each.id).join(', ')}): add that key after the first one`,
    );
  }
}

const ENTRY = /^([A-Za-z0-9][A-Za-z0-9_-]{0,15}):([A-Za-z0-9+/_-]+={0,2})$/;
const HOW = `a key is ${KEY_BYTES} random bytes in base64, e.g. from "openssl rand -base64 ${KEY_BYTES}"`;

/**
 * Reads the keys from an environment variable: `id:key`, or several separated by commas. The first one encrypts, and
 * all of them decrypt. An id is not secret, and must never be reused for another key.
 * @throws ConfigError that names the variable and the entry at fault, and never shows any of its content
 */
export function readEncryptionKeys(variable: string, env: NodeJS.ProcessEnv = process.env): KeyRing {
  const text = (env[variable] ?? '').trim();
  if (text === '') {
    throw new ConfigError(
      `the encryption keys belong in the environment variable ${variable}, which is not set in this process: ` +
        `set it to "id:key", or to "new:key,old:key" while changing keys; ${HOW}`,
    );
  }
  const [first = '', ...others] = text.split(',');
  const all: KeyRing['all'] = [
    readKey(first.trim(), `entry 1 of ${variable}`),
    ...others.map((entry, index) => readKey(entry.trim(), `entry ${index + 2} of ${variable}`)),
  ];
  const twice = all.find(({ id }, index) => all.findIndex((other) => other.id === id) !== index);
  if (twice === undefined) return new KeyRing(all, variable);
  throw new ConfigError(
    `${variable} holds two keys named ${JSON.stringify(twice.id)}: give each an id of its own`,
  );
}

function readKey(entry: string, place: string): EncryptionKey {
  const [, id = '', encoded = ''] = ENTRY.exec(entry) ?? [];
  const secret = Buffer.from(encoded, 'base64');
  if (secret.length === KEY_BYTES) return new EncryptionKey(id, secret);
  // The entry may be a key in the wrong place, so the message repeats none of it.
  throw new ConfigError(
    `${place} is not "id:key": an id is 1 to 16 letters, digits, "_" and "-", and ${HOW}`,
  );
}

/** Returns the keys that a configuration encrypts with; undefined if none. Throws as `readEncryptionKeys` does. */
export function configuredKeys(
  { encryption }: Pick<Config, 'encryption'>,
  env: NodeJS.ProcessEnv = process.env,
): KeyRing | undefined {
  return encryption && readEncryptionKeys(encryption.keyEnv, env);
}
