import type { Key } from './keys';

const MINUTE_MS = 60_000;

/** Ring buffer of a key's last request times, as many as it may send a minute; the oldest is at `next`. */
interface Ring {
  readonly times: number[];
  next: number;
  latest: number;
}

/**
 * Limits the requests of each key in this process to `requestsPerMinute` in any 60 seconds. Keys without a request in
 * the last minute are forgotten.
 */
export class RequestRates {
  /** Ordered by the latest request of each key. */
  private readonly rings = new Map<string, Ring>();

  /** @param now milliseconds of a monotonic clock */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Counts a request and returns null. Above the rate, counts nothing and returns the whole seconds to wait. */
  take({ id, requestsPerMinute }: Pick<Key, 'id' | 'requestsPerMinute'>): number | null {
    if (requestsPerMinute === null) return null;
    const now = this.now();
    this.forget(now);
    const ring = this.rings.get(id) ?? { times: [], next: 0, latest: now };
    const waitMs = (ring.times[ring.next] ?? -Infinity) + MINUTE_MS - now;
    if (waitMs > 0) return Math.ceil(waitMs / 1000);
    ring.times[ring.next] = now;
    ring.next = (ring.next + 1) % requestsPerMinute;
    ring.latest = now;
    this.rings.delete(id);
    this.rings.set(id, ring);
    return null;
  }

  private forget(now: number): void {
    for (const [id, { latest }] of this.rings) {
      if (now - latest < MINUTE_MS) return;
      this.rings.delete(id);
    }
  }
}
