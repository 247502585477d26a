import type { Key } from './keys';

const MINUTE_MS = 60_000;

/** The times of a key's last requests, as many as a minute may hold: a ring, whose oldest entry is at `next`. */
interface Ring {
  readonly times: number[];
  next: number;
  latest: number;
}

/**
 * Counts the requests of each key in this process: no 60 seconds hold more than its `requestsPerMinute`. Keys without a
 * request in the last minute are forgotten.
 */
export class RequestRates {
  /** In the order of their latest requests. */
  private readonly rings = new Map<string, Ring>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Counts a request and gives null, or counts nothing and gives the whole seconds until one is allowed. */
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
