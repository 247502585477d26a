import type { Payload } from '@temporalio/common';

/** Every payload in a piece of a history, in its order. */
export function* payloadsIn(value: unknown): Generator<Payload> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if (isPayload(value)) yield value;
  else for (const part of Object.values(value)) yield* payloadsIn(part);
}

function isPayload(value: object): value is Payload {
  return 'metadata' in value && 'data' in value;
}
