import type { Payload, PayloadCodec } from '@temporalio/common';

/** Stands in for a user's encryption: encoded payloads cannot be read as text. */
export const veil: PayloadCodec = {
  encode: (payloads) => Promise.resolve(payloads.map(flip)),
  decode: (payloads) => Promise.resolve(payloads.map(flip)),
};

/** Its own inverse. */
function flip(payload: Payload): Payload {
  return payload.data ? { ...payload, data: payload.data.map((byte) => byte ^ 0xff) } : payload;
}
