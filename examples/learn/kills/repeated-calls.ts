import type { NightFacts } from './scene';

/** Between a look into the store, which still found nothing, and the request that follows it on a busy machine. */
const LOOK_MS = 250;

/** Calls that were made once more though their answer had been kept: there must be none. */
export function repeatedInVain({ requests, keepings }: Pick<NightFacts, 'requests' | 'keepings'>): string[] {
  const keptAt = new Map<string, number>();
  for (const { callId, at } of keepings) keptAt.set(callId, Math.min(at, keptAt.get(callId) ?? Infinity));
  return requests
    .map(({ headers, receivedAt }) => ({ callId: String(headers['x-client-request-id']), receivedAt }))
    .filter(({ callId, receivedAt }) => receivedAt > (keptAt.get(callId) ?? Infinity) + LOOK_MS)
    .map(({ callId }) => callId);
}

/** How many different calls a night made. */
export function callsOf({ requests }: Pick<NightFacts, 'requests'>): ReadonlySet<string> {
  return new Set(requests.map(({ headers }) => String(headers['x-client-request-id'])));
}
