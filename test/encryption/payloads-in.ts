import type { Payload } from '@temporalio/common';

/**
 * Yields every payload in a piece of a history, in order, except what the SDK's core records of a local activity
 * besides its result (type, ids and times): no codec ever sees that.
 */
export function* payloadsIn(value: unknown): Generator<Payload> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if (isPayload(value)) yield value;
  else if (isMarker(value)) yield* payloadsIn(value.details.result);
  else for (const part of Object.values(value)) yield* payloadsIn(part);
}

function isPayload(value: object): value is Payload {
  return 'metadata' in value && 'data' in value;
}

function isMarker(value: object): value is { readonly details: { readonly result?: unknown } } {
  return 'markerName' in value && 'details' in value;
}
