import type { RequestRecord } from '../../src/testing';
import { isPurchase } from './audit-ledger';
import { type Evidence, type Finding, finding } from './evidence';

/** Rate of one model over all workers together. */
export interface SharedLimit {
  readonly model: string;
  readonly what: 'requests in 60 s' | 'requests at a time';
  readonly most: number;
}

/** The limits of the configuration against the providers' own log. */
export function auditRates(evidence: Evidence): Finding[] {
  return peaksOf(evidence)
    .filter(({ peak, limit }) => peak > limit.most)
    .map(({ peak, limit: { model, what, most } }) => {
      const difference = `${model} had ${peak} ${what}, and ${most} are allowed`;
      return finding('no rate that workers share is exceeded', difference);
    });
}

/** How near to each limit the providers ever came. */
export function peaksOf({ limits, requests }: Evidence): { limit: SharedLimit; peak: number }[] {
  return limits.map((limit) => {
    const own = requests.filter((request) => request.model === limit.model && isPurchase(request));
    const isWith = limit.what === 'requests in 60 s' ? isWithinMinute : isUnderWay;
    const peaks = own.map((request) => own.filter((other) => isWith(other, request)).length);
    return { limit, peak: Math.max(0, ...peaks) };
  });
}

function isWithinMinute(other: RequestRecord, { receivedAt }: RequestRecord): boolean {
  return other.receivedAt >= receivedAt && other.receivedAt < receivedAt + 60_000;
}

/**
 * A request is under way when another comes if it has come and is answered later. When one ended that was broken off, by
 * the death of its worker or otherwise, the log does not tell: it counts when it comes, and no longer.
 */
function isUnderWay(other: RequestRecord, request: RequestRecord): boolean {
  if (other === request) return true;
  return other.receivedAt <= request.receivedAt && (other.respondedAt ?? 0) > request.receivedAt;
}
