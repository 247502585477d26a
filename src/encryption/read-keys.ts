import { ConfigError } from '../pool/config-error';
import { EncryptionKey, KEY_BYTES } from './encryption-key';
import { KeyRing } from './key-ring';

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,15}$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const HOW = `a key is ${KEY_BYTES} random bytes in base64, e.g. of "openssl rand -base64 ${KEY_BYTES}"`;

/**
 * Reads the keys from an environment variable: `id:key`, or several with commas between them. The first one encrypts,
 * and all of them decrypt. An id is 1 to 16 letters, digits, `_` and `-`; it is no secret, and is never used again for
 * another key.
 *
 * @throws ConfigError that names the variable and the entry at fault, and never shows any of its content
 */
export function readEncryptionKeys(variable: string, env: NodeJS.ProcessEnv = process.env): KeyRing {
  const text = (env[variable] ?? '').trim();
  if (text === '') {
    throw new ConfigError(
      `the encryption keys are to be in the environment variable ${variable}, which is not set in this process: ` +
        `set it to "id:key", and to "new:key,old:key" for a change of keys; ${HOW}`,
    );
  }
  const keys = text
    .split(',')
    .map((entry, index) => readKey(entry.trim(), `entry ${index + 1} of ${variable}`));
  const ids = keys.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) {
    throw new ConfigError(
      `${variable} holds two keys named ${JSON.stringify(twice)}: give each an id of its own`,
    );
  }
  const [first, ...others] = keys;
  if (first === undefined) throw new ConfigError(`${variable} holds no key: set it to "id:key"; ${HOW}`);
  return new KeyRing(first, others, variable);
}

function readKey(entry: string, place: string): EncryptionKey {
  const colon = entry.indexOf(':');
  if (colon === -1)
    throw new ConfigError(`${place} has no ":" between an id and a key: write "id:key"; ${HOW}`);
  const [id, encoded] = [entry.slice(0, colon), entry.slice(colon + 1)];
  // What is no id may be a key in the wrong place, so it is not repeated.
  if (!ID.test(id)) {
    throw new ConfigError(
      `${place} begins with no id: expected 1 to 16 letters, digits, "_" and "-", then ":" and a key; ${HOW}`,
    );
  }
  if (!BASE64.test(encoded)) {
    throw new ConfigError(`key ${JSON.stringify(id)} (${place}) is not base64: ${HOW}`);
  }
  const secret = Buffer.from(encoded, 'base64');
  if (secret.length === KEY_BYTES) return new EncryptionKey(id, secret);
  throw new ConfigError(
    `key ${JSON.stringify(id)} (${place}) has ${secret.length} bytes and must have ${KEY_BYTES}: ${HOW}`,
  );
}
