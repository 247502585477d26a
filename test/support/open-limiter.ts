import { RateLimiter, type RateLimiterSettings } from '../../src/activities/rate-limits/limiter';
import type { SharedStates } from '../../src/store/store';

const UNLIMITED = {
  requestsPerMinute: Infinity,
  tokensPerMinute: Infinity,
  concurrency: Infinity,
  failures: Infinity,
  pauseMs: 0,
};

/** Opens one process's limiter for a model, with these limits only. */
export function openLimiter(settings: Partial<RateLimiterSettings>, states: SharedStates): RateLimiter {
  return new RateLimiter({ ...UNLIMITED, ...settings }, states, 'model');
}
