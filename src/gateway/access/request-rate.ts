import type { Key } from './keys';

const MINUTE_MS = 60_000;

/**
 * Limits the requests of each key in this process to `requestsPerMinute` in any 60 seconds. Keys without a request in
 * the last minute are forgotten.
 */
export class RequestRates {
  /** Times of each key's last requests, as many as it may send a minute; the key with the latest one comes last. */
  private readonly times = new Map<string, readonly number[]>();

  /** @param now milliseconds of a monotonic clock */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Counts a request and returns null. Above the rate, counts nothing and returns the whole seconds to wait. */
  take({ id, requestsPerMinute }: Pick<Key, 'id' | 'requestsPerMinute'>): number | null {
    if (requestsPerMinute === null) return null;
    const now = this.now();
    for (const [silent, times] of this.times) {
      if (now - (times.at(-1) ?? 0) < MINUTE_MS) break;
      this.times.delete(silent);
    }
    const times = this.times.get(id) ?? [];
    const waitMs = (times.at(-requestsPerMinute) ?? -Infinity) + MINUTE_MS - now;
    if (waitMs > 0) return Math.ceil(waitMs / 1000);
    this.times.delete(id);
    this.times.set(id, [...times, now].slice(-requestsPerMinute));
    return null;
  }
}
