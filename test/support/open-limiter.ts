import { RateLimiter, type RateLimiterSettings } from '../../src/activities/rate-limits/limiter';
import type { SharedStates } from '../../src/store/store';

const UNLIMITED = {
  requestsPerMinute: Infinity,
  tokensPerMinute: Infinity,
  concurrency: Infinity,
  failures: Infinity,
  pauseMs: 0,
};

/** The limiter of a process for one model, with no limits but these. */
export function openLimiter(settings: Partial<RateLimiterSettings>, states: SharedStates): RateLimiter {
  return new RateLimiter({ ...UNLIMITED, ...settings }, states, 'model');
}
