import { randomBytes } from 'node:crypto';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { Field, MapField, Type } from 'protobufjs/light';
import { ConfigError } from '../config/errors';
import { ConductorError } from '../conductor-error';
import type { EncryptionKey, KeyRing } from './keys';
import { NONCE_BYTES, seal, unseal } from './seal';

const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

/** A payload is not what was encrypted: it was altered, or an id stands for two keys. */
export class AlteredPayloadError extends ConductorError {
  override readonly name = 'AlteredPayloadError';
  readonly code = 'AlteredPayload';
}

/**
 * Encrypts all that a worker and its clients send to Temporal: inputs, results, failure details, summaries, queries.
 *
 * An encrypted payload has `metadata.encoding` = `binary/encrypted`, the id of its key in
 * `metadata['encryption-key-id']`, and as `data` 12 random bytes of nonce, the AES-256-GCM ciphertext of the whole
 * payload (its protobuf form), and the tag of 16 bytes. The AES key is HKDF-SHA-256 (no salt, `info` =
 * `temporal-conductor payload`, 32 bytes) of the secret. Random nonces bear 2³² payloads under one key (NIST SP
 * 800-38D, 8.3): change it before.
 *
 * A payload that is not encrypted is passed on as it is, so that runs that started before the keys came can end.
 *
 * What stays readable: workflow ids, types and task queues, activity names, times and sizes. A server that lies could
 * show an old payload in the place of a new one.
 *
 * @throws UnknownKeyError from `decode`, naming the key that is missing
 * @throws AlteredPayloadError from `decode`, where a single bit was altered
 */
export function encryptionCodec(keys: KeyRing): PayloadCodec {
  return {
    encode: async (payloads) => Promise.resolve(payloads.map((payload) => encrypt(payload, keys.first))),
    decode: async (payloads) => Promise.resolve(payloads.map((payload) => decrypt(payload, keys))),
  };
}

function encrypt({ metadata, data }: Payload, { id, payload: key }: EncryptionKey): Payload {
  const plain = PAYLOAD.encode({ metadata: metadata ?? {}, data }).finish();
  return {
    metadata: { encoding: Buffer.from(ENCRYPTED), [KEY_ID]: Buffer.from(id) },
    data: seal(plain, key, randomBytes(NONCE_BYTES)),
  };
}

function decrypt(payload: Payload, keys: KeyRing): Payload {
  if (wordOf(payload, 'encoding') !== ENCRYPTED) return payload;
  const id = wordOf(payload, KEY_ID);
  const plain = unseal(payload.data ?? new Uint8Array(), keys.find(id, 'a payload').payload);
  if (plain !== null) return PAYLOAD.toObject(PAYLOAD.decode(plain));
  throw new AlteredPayloadError(
    `a payload that names key ${JSON.stringify(id)} cannot be decrypted with it: it was altered on its way, ` +
      'or the id stands for two different keys; give every process the same keys',
  );
}

function wordOf({ metadata }: Payload, name: string): string {
  return Buffer.from(metadata?.[name] ?? []).toString('utf8');
}

/** `temporal.api.common.v1.Payload` (github.com/temporalio/api), as far as a codec meets it, for any SDK to read. */
const PAYLOAD = new Type('Payload')
  .add(new MapField('metadata', 1, 'string', 'bytes'))
  .add(new Field('data', 2, 'bytes'));

/**
 * Module of the failure converter that puts messages and stack traces where a codec reaches them; without it they travel
 * in the clear. A bundle of workflows must be built with it: `bundleWorkflowCode({ failureConverterPath })`.
 */
export const failureConverterPath = require.resolve('../workflows/encoded-failures');

/**
 * A data converter that encrypts, for `Client`, `Worker` and all else that takes one. Mount it beside the plugin, which
 * leaves a worker's data converter alone. With a converter of your own, take its parts: `encryptionCodec` as the last of
 * your codecs, and `failureConverterPath`.
 *
 * @example
 * const keys = readEncryptionKeys('CONDUCTOR_KEYS');
 * const dataConverter = encryptionConverter(keys);
 * const client = new Client({ connection, dataConverter });
 * const worker = await Worker.create({ ...options, dataConverter, plugins: [new ConductorPlugin({ config })] });
 * const store = openStore('file:.conductor/store', process.cwd(), { keys });
 * const conductor = new ConductorClient({ client, store });
 */
export function encryptionConverter(
  keys: KeyRing,
): Required<Pick<DataConverter, 'payloadCodecs' | 'failureConverterPath'>> {
  return { payloadCodecs: [encryptionCodec(keys)], failureConverterPath };
}

/**
 * Refuses a worker that would send in the clear what its configuration wants encrypted. Any codec will do, since which
 * one is the user's choice.
 *
 * @throws ConfigError that says what to mount
 */
export function checkEncrypted(dataConverter: DataConverter | undefined): void {
  const { payloadCodecs = [], failureConverterPath } = dataConverter ?? {};
  const missing = [
    ...(payloadCodecs.length === 0 ? ['no payload codec'] : []),
    ...(failureConverterPath === undefined ? ['no failure converter'] : []),
  ];
  if (missing.length === 0) return;
  throw new ConfigError(
    `the configuration asks for "encryption", and this worker's data converter has ${missing.join(' and ')}: create ` +
      'worker and clients with dataConverter: encryptionConverter(keys), or take "encryption" out of the configuration',
  );
}
