import type { LedgerRow } from '../../src/store/ledger';
import type { RequestRecord } from '../../src/testing';

/** Clocks of two processes of one machine, one of which counts on from its own start. */
const CLOCK_MS = 250;

/** Whether a row can be the row of a request: it was open when the request came, and does not name another amount. */
export function canPair(request: RequestRecord, row: LedgerRow): boolean {
  const end = row.endedAt === null ? Infinity : Date.parse(row.endedAt);
  const came = request.receivedAt;
  if (came < Date.parse(row.startedAt) - CLOCK_MS || came > end + CLOCK_MS) return false;
  return row.nanoUsd === null || row.nanoUsd === (request.nanoUsd ?? 0);
}

/**
 * Gives each of some things a partner of its own, and returns those that are left without one in a pairing as large as
 * there can be (Kuhn's algorithm: a newcomer may push others on to another partner).
 */
export function pairUp<A, B>(
  things: readonly A[],
  partners: readonly B[],
  fits: (thing: A, partner: B) => boolean,
): A[] {
  const taken = new Map<B, A>();
  const place = (thing: A, tried: Set<B>): boolean =>
    partners.some((partner) => {
      if (tried.has(partner) || !fits(thing, partner)) return false;
      tried.add(partner);
      const holder = taken.get(partner);
      if (holder !== undefined && !place(holder, tried)) return false;
      taken.set(partner, thing);
      return true;
    });
  return things.filter((thing) => !place(thing, new Set()));
}
