import { randomBytes } from 'node:crypto';
import type { DataConverter, Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import { Field, MapField, Type } from 'protobufjs/light';
import { ConfigError } from '../config/errors';
import type { Config } from '../config/schema';
import { ConductorError } from '../errors';
import type { EncryptionKey, KeyRing } from './key-ring';
import { NONCE_BYTES, seal, unseal } from './seal';

const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
const BOUND_TO = 'encryption-bound-to';

/** Thrown if a payload was altered, an id stands for two keys, or (strict) a payload is not for its reader. */
export class AlteredPayloadError extends ConductorError {
  override readonly name = 'AlteredPayloadError';
  readonly code = 'AlteredPayload';
}

/**
 * Encrypts all that a worker and its clients send to Temporal: inputs, results, failure details, summaries, queries.
 *
 * An encrypted payload has `metadata.encoding` = `binary/encrypted`, the id of its key in
 * `metadata['encryption-key-id']`, and as `data` a random nonce of 12 bytes, the AES-256-GCM ciphertext of the whole
 * payload (its protobuf form), and the tag of 16 bytes. The AES key is HKDF-SHA-256 (no salt, `info` =
 * `temporal-conductor payload`, 32 bytes) of the secret. With random nonces, one key may encrypt 2³² payloads (NIST SP
 * 800-38D, 8.3): change it before. If the SDK names a payload's workflow, `metadata['encryption-bound-to']` is
 * `NAMESPACE/WORKFLOW_ID`, which is authenticated too.
 *
 * Unencrypted payloads are passed on, so that runs from before the encryption can end. With `strict` they are refused,
 * since they could be forged; so are payloads not bound to their workflow, since they could be copied.
 * @throws UnknownKeyError and AlteredPayloadError from `decode`
 */
export function encryptionCodec(keys: KeyRing, { strict = false }: Strictness = {}): PayloadCodec {
  return new EncryptionCodec(keys, strict);
}

interface Strictness {
  readonly strict?: boolean;
}

class EncryptionCodec implements PayloadCodec {
  constructor(
    private readonly keys: KeyRing,
    readonly strict: boolean,
    private readonly leavesOut = false,
  ) {}

  /** Returns a codec that replaces refused payloads in messages to a workflow by `undefined`, instead of throwing. */
  forWorker(): EncryptionCodec {
    return new EncryptionCodec(this.keys, this.strict, true);
  }

  async encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return Promise.resolve(payloads.map((payload) => encrypt(payload, this.keys.first, bindingOf(context))));
  }

  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return Promise.resolve(payloads.map((payload) => this.open(payload, context)));
  }

  private open(payload: Payload, context: SerializationContext | undefined): Payload {
    const fault = this.strict ? faultOf(payload, bindingOf(context)) : null;
    if (fault !== null) {
      if (this.leavesOut && context?.type === 'workflow') return NOTHING;
      throw new AlteredPayloadError(fault);
    }
    return wordOf(payload, 'encoding') === ENCRYPTED ? decrypt(payload, this.keys) : payload;
  }
}

/** Temporal's payload for `undefined`. */
const NOTHING: Payload = { metadata: { encoding: Buffer.from('binary/null') } };

/** Returns why a strict process refuses a payload, or null if it accepts it. */
function faultOf(payload: Payload, binding: string): string | null {
  if (wordOf(payload, 'encoding') !== ENCRYPTED) {
    return (
      'a payload is not encrypted, and this process accepts only encrypted ones (encryption.strict): its sender must ' +
      'use the same keys; runs started before encryption was enabled can finish only on a worker without "strict"'
    );
  }
  const claim = wordOf(payload, BOUND_TO);
  if (binding === '' || claim === binding) return null;
  return (
    `a payload is encrypted for ${claim === '' ? 'no workflow' : JSON.stringify(claim)}, but was sent to ` +
    `${JSON.stringify(binding)} (encryption.strict): its sender must bind it to that workflow's id`
  );
}

/** Ids of scheduled workflows. The schedule appends the due time to the id that the input was encrypted for. */
const SCHEDULED = /^(?:nightly|scheduled)-/;
const DUE_TIME = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Returns the workflow that payloads, its activities' included, are bound to; empty if the SDK does not know it. */
function bindingOf(context: SerializationContext | undefined): string {
  const { namespace = '', workflowId = '' } = context ?? {};
  if (workflowId === '') return '';
  return `${namespace}/${SCHEDULED.test(workflowId) ? workflowId.replace(DUE_TIME, '') : workflowId}`;
}

function encrypt({ metadata, data }: Payload, { id, payload: key }: EncryptionKey, binding: string): Payload {
  const plain = PAYLOAD.encode({ metadata: metadata ?? {}, data }).finish();
  return {
    metadata: {
      encoding: Buffer.from(ENCRYPTED),
      [KEY_ID]: Buffer.from(id),
      ...(binding !== '' && { [BOUND_TO]: Buffer.from(binding) }),
    },
    data: seal(plain, key, randomBytes(NONCE_BYTES), binding),
  };
}

function decrypt(payload: Payload, keys: KeyRing): Payload {
  const id = wordOf(payload, KEY_ID);
  const { payload: key } = keys.find(id, 'a payload');
  const plain = unseal(payload.data ?? new Uint8Array(), key, wordOf(payload, BOUND_TO));
  if (plain !== null) return PAYLOAD.toObject(PAYLOAD.decode(plain));
  throw new AlteredPayloadError(
    `a payload that names key ${JSON.stringify(id)} cannot be decrypted with it: it was altered on its way, ` +
      'or the id stands for two different keys; give every process the same keys',
  );
}

function wordOf({ metadata }: Payload, name: string): string {
  return Buffer.from(metadata?.[name] ?? []).toString('utf8');
}

/** `temporal.api.common.v1.Payload` (github.com/temporalio/api), with the fields that a codec needs, for any SDK. */
const PAYLOAD = new Type('Payload')
  .add(new MapField('metadata', 1, 'string', 'bytes'))
  .add(new Field('data', 2, 'bytes'));

/**
 * Path of the failure converter that puts messages and stack traces where a codec encrypts them; without it they
 * travel in the clear. Workflow bundles must be built with it: `bundleWorkflowCode({ failureConverterPath })`.
 */
export const failureConverterPath = require.resolve('../workflows/encoded-failures');

/**
 * Returns a data converter that encrypts, for `Client`, `Worker` and everything else that takes one. If you have your
 * own converter, add the parts: `encryptionCodec` as the last of your codecs, and `failureConverterPath`.
 *
 * @example
 * const keys = readEncryptionKeys('CONDUCTOR_KEYS');
 * const dataConverter = encryptionConverter(keys);
 * const client = new Client({ connection, dataConverter });
 * const worker = await Worker.create({ ...options, dataConverter, plugins: [new ConductorPlugin({ config })] });
 * const store = openStore('sqlite:.conductor/store.db', process.cwd(), { keys });
 * const conductor = new ConductorClient({ client, store });
 */
export function encryptionConverter(
  keys: KeyRing,
  strictness?: Strictness,
): Required<Pick<DataConverter, 'payloadCodecs' | 'failureConverterPath'>> {
  return { payloadCodecs: [encryptionCodec(keys, strictness)], failureConverterPath };
}

/** Makes a strict worker leave out refused parts of messages to a workflow: throwing would fail its tasks forever. */
export function forWorker(dataConverter: DataConverter): DataConverter {
  const payloadCodecs = dataConverter.payloadCodecs?.map((codec) =>
    codec instanceof EncryptionCodec && codec.strict ? codec.forWorker() : codec,
  );
  return payloadCodecs === undefined ? dataConverter : { ...dataConverter, payloadCodecs };
}

/**
 * Refuses a worker that would send in the clear, or accept unencrypted, what its configuration wants encrypted. A
 * codec of another make is accepted only if the configuration says `codec: own`.
 */
export function checkEncrypted(
  dataConverter: DataConverter | undefined,
  encryption: NonNullable<Config['encryption']>,
): void {
  const faults = [
    codecFault(dataConverter?.payloadCodecs ?? [], encryption),
    dataConverter?.failureConverterPath === undefined ? 'no failure converter' : null,
  ].filter((fault) => fault !== null);
  if (faults.length === 0) return;
  const converter = `encryptionConverter(keys${encryption.strict ? ', { strict: true }' : ''})`;
  throw new ConfigError(
    `the configuration asks for "encryption", but the data converter has ${faults.join(' and ')}: create ` +
      `worker and clients with dataConverter: ${converter}, or remove "encryption" from the configuration`,
  );
}

function codecFault(
  codecs: readonly PayloadCodec[],
  { strict = false, codec }: NonNullable<Config['encryption']>,
): string | null {
  if (codecs.length === 0) return 'no payload codec';
  const ours = codecs.find((each) => each instanceof EncryptionCodec);
  if (ours !== undefined) return strict && !ours.strict ? 'a codec that accepts unencrypted payloads' : null;
  if (codec === 'own') return null;
  return 'a custom payload codec (if it encrypts, write "codec: own" under "encryption")';
}
