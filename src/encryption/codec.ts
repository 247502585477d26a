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

/** A payload was altered, an id stands for two keys, or (strict) it is not for its reader. */
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
 * 800-38D, 8.3): change it before. If the SDK names the workflow of a payload, `metadata['encryption-bound-to']` says
 * `NAMESPACE/WORKFLOW_ID`, and those bytes are authenticated too.
 *
 * A payload that is not encrypted is passed on, so that runs that started before the keys came can end. With `strict`
 * it is refused, since it could be forged, and so is one that is not bound to its workflow, since it could be copied.
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

  /** Leaves out what it refuses of messages to a workflow, instead of failing its task. */
  forWorker(): EncryptionCodec {
    return new EncryptionCodec(this.keys, this.strict, true);
  }

  async encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return Promise.resolve(payloads.map((payload) => encrypt(payload, this.keys.first, bindingOf(context))));
  }

  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return Promise.resolve(payloads.map((payload) => this.#open(payload, context)));
  }

  #open(payload: Payload, context: SerializationContext | undefined): Payload {
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

/** Why a strict process does not take a payload that it reads for a workflow; null where it does. */
function faultOf(payload: Payload, binding: string): string | null {
  if (wordOf(payload, 'encoding') !== ENCRYPTED) {
    return (
      'a payload is not encrypted, and this process accepts no other (encryption.strict): whatever sent it must use ' +
      'the same keys; runs from before the encryption need a worker without "strict" to end'
    );
  }
  const claim = wordOf(payload, BOUND_TO);
  if (binding === '' || claim === binding) return null;
  return (
    `a payload is encrypted for ${claim === '' ? 'no workflow' : JSON.stringify(claim)}, and was sent to ` +
    `${JSON.stringify(binding)} (encryption.strict): whatever sends it must bind it to that workflow's id`
  );
}

/** Workflows that a schedule starts: it appends the time that each was due at to the id that their input is encrypted for. */
const SCHEDULED = /^(?:nightly|scheduled)-/;
const DUE_TIME = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Workflow that payloads and those of its activities are bound to; empty if the SDK does not know. */
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
 * A data converter that encrypts, for `Client`, `Worker` and all else that takes one. With a converter of your own, take
 * its parts: `encryptionCodec` as the last of your codecs, and `failureConverterPath`.
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

/**
 * A strict worker leaves out what it refuses of a message to a workflow: to throw would fail its tasks again and again.
 */
export function forWorker(dataConverter: DataConverter): DataConverter {
  const payloadCodecs = dataConverter.payloadCodecs?.map((codec) =>
    codec instanceof EncryptionCodec && codec.strict ? codec.forWorker() : codec,
  );
  return payloadCodecs === undefined ? dataConverter : { ...dataConverter, payloadCodecs };
}

/**
 * Refuses a worker that would send in the clear, or accept, what its configuration wants encrypted. A codec of another
 * make passes only where the configuration says `codec: own`.
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
    `the configuration asks for "encryption", and the data converter has ${faults.join(' and ')}: create ` +
      `worker and clients with dataConverter: ${converter}, or take "encryption" out of the configuration`,
  );
}

function codecFault(
  codecs: readonly PayloadCodec[],
  { strict = false, codec }: NonNullable<Config['encryption']>,
): string | null {
  if (codecs.length === 0) return 'no payload codec';
  const ours = codecs.find((each) => each instanceof EncryptionCodec);
  if (ours !== undefined) return strict && !ours.strict ? 'a codec that accepts what is not encrypted' : null;
  if (codec === 'own') return null;
  return 'a payload codec of another make (if it encrypts, write "codec: own" under "encryption")';
}
