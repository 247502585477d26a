import { randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { encode as toUtf8 } from '@temporalio/common/lib/encoding';
import type { EncryptionKey } from './encryption-key';
import type { KeyRing } from './key-ring';
import { payloadFromBytes, payloadToBytes } from './payload-bytes';
import { NONCE_BYTES, seal, unseal } from './seal';

/** What an encrypted payload's `encoding` says. */
const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

/** A payload is not what was encrypted: somebody altered it, or used an id for two keys. */
export class AlteredPayloadError extends Error {
  override readonly name = 'AlteredPayloadError';
}

/**
 * Encrypts all that a worker and its clients hand to Temporal: inputs, results, failure details, summaries, queries.
 *
 * An encrypted payload has `metadata.encoding` = `binary/encrypted`, the id of its key in
 * `metadata['encryption-key-id']`, and as `data` 12 random bytes of nonce, the AES-256-GCM ciphertext of the whole
 * payload (its protobuf form), and the tag of 16 bytes. The AES key is HKDF-SHA-256 (no salt, `info` =
 * `temporal-conductor payload`, 32 bytes) of the secret. Random nonces bear 2³² payloads under one key (NIST SP
 * 800-38D, 8.3): change it before.
 *
 * A payload that is not encrypted is handed on as it is, so that a run begun before the keys came is finished.
 *
 * What stays readable: workflow ids, types and task queues, activity names, times and sizes. A server that lies could
 * show an old payload in the place of a new one.
 *
 * @throws UnknownKeyError from `decode`, naming the key that is missing
 * @throws AlteredPayloadError from `decode`, where a single bit is not as it was
 */
export function encryptionCodec(keys: KeyRing): PayloadCodec {
  return {
    encode: async (payloads) => Promise.resolve(payloads.map((payload) => encrypt(payload, keys.first))),
    decode: async (payloads) => Promise.resolve(payloads.map((payload) => decrypt(payload, keys))),
  };
}

function encrypt(payload: Payload, { id, payload: key }: EncryptionKey): Payload {
  return {
    metadata: { encoding: toUtf8(ENCRYPTED), [KEY_ID]: toUtf8(id) },
    data: seal(payloadToBytes(payload), { key, nonce: randomBytes(NONCE_BYTES) }),
  };
}

function decrypt(payload: Payload, keys: KeyRing): Payload {
  if (wordOf(payload, 'encoding') !== ENCRYPTED) return payload;
  const id = wordOf(payload, KEY_ID);
  const plain = unseal(payload.data ?? new Uint8Array(), keys.find(id, 'a payload').payload);
  if (plain !== null) return payloadFromBytes(plain);
  throw new AlteredPayloadError(
    `a payload that names key ${JSON.stringify(id)} cannot be decrypted with it: it was altered on its way, ` +
      'or the id stands for two different keys; give every process the same keys',
  );
}

function wordOf({ metadata }: Payload, name: string): string {
  return Buffer.from(metadata?.[name] ?? []).toString('utf8');
}
