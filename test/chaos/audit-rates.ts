import type { RequestRecord } from '../../src/testing';
import { isPurchase } from './audit-ledger';
import { type Evidence, type Finding, finding } from './evidence';

/** A limit of one model for all workers together. */
export interface SharedLimit {
  readonly model: string;
  readonly what: 'requests in 60 s' | 'requests at a time';
  readonly most: number;
}

/** Checks the configured limits against the providers' own log. */
export function auditRates(evidence: Evidence): Finding[] {
  return peaksOf(evidence)
    .filter(({ peak, limit }) => peak > limit.most)
    .map(({ peak, limit: { model, what, most } }) => {
      const difference = `${model} had ${peak} ${what}, and ${most} are allowed`;
      return finding('no rate that workers share is exceeded', difference);
    });
}

/** Returns the highest count that the providers saw for each limit. */
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
 * Whether `other` has come and is not yet answered when `request` comes. The log does not say when a request that was
 * broken off ended, e.g. by its worker's death, so such a request counts only at the moment when it comes.
 */
function isUnderWay(other: RequestRecord, request: RequestRecord): boolean {
  if (other === request) return true;
  return other.receivedAt <= request.receivedAt && (other.respondedAt ?? 0) > request.receivedAt;
}
