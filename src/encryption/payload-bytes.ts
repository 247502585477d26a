import type { Payload } from '@temporalio/common';
import { Field, MapField, Type } from 'protobufjs/light';

/** `temporal.api.common.v1.Payload` (github.com/temporalio/api), as far as a codec meets it. */
const PAYLOAD = new Type('Payload')
  .add(new MapField('metadata', 1, 'string', 'bytes'))
  .add(new Field('data', 2, 'bytes'));

/** A payload as one piece of bytes, readable in every language that Temporal has an SDK for. */
export function payloadToBytes({ metadata, data }: Payload): Uint8Array {
  return PAYLOAD.encode({ ...(metadata && { metadata }), ...(data && { data }) }).finish();
}

/** The payload that the bytes stand for. */
export function payloadFromBytes(bytes: Uint8Array): Payload {
  return PAYLOAD.toObject(PAYLOAD.decode(bytes));
}
