import fc from 'fast-check';
import { Minute, MINUTE_MS, type Rate } from '../../../src/activities/rate-limits/limiter';

const rate = (limits: Partial<Rate>): Rate => ({
  requestsPerMinute: Infinity,
  tokensPerMinute: Infinity,
  ...limits,
});

/** Sends as soon as it may, from `now` on; returns when. */
function send(minute: Minute, tokens: number, now: number): number {
  const at = now + minute.waitFor(tokens, now);
  expect(minute.waitFor(tokens, at)).toBe(0);
  minute.take(tokens, at);
  return at;
}

describe('a minute', () => {
  test('holds so many requests, and the next one fits when the first is 60 s old', () => {
    const minute = new Minute(rate({ requestsPerMinute: 2 }));
    minute.take(1, 0);
    minute.take(1, 10_000);
    expect(minute.waitFor(1, 20_000)).toBe(40_000);
    expect(minute.waitFor(1, 59_999)).toBe(1);
    expect(minute.waitFor(1, 60_000)).toBe(0);
  });

  test('holds so many tokens, and waits until enough of them are 60 s old', () => {
    const minute = new Minute(rate({ tokensPerMinute: 100 }));
    minute.take(30, 0);
    minute.take(30, 1_000);
    minute.take(30, 2_000);
    expect(minute.waitFor(10, 3_000)).toBe(0);
    expect(minute.waitFor(40, 3_000)).toBe(57_000);
    expect(minute.waitFor(41, 3_000)).toBe(58_000);
  });

  test('goes by the tokens that a request is told to have had, once that is known', () => {
    const minute = new Minute(rate({ tokensPerMinute: 100 }));
    const request = minute.take(90, 0);
    expect(minute.waitFor(20, 0)).toBe(MINUTE_MS);
    request.tokens = 10;
    expect(minute.waitFor(20, 0)).toBe(0);
  });

  test('lets a request through that is larger than all of it, alone', () => {
    const minute = new Minute(rate({ tokensPerMinute: 100 }));
    minute.take(1, 0);
    expect(minute.waitFor(1_000, 0)).toBe(MINUTE_MS);
    minute.take(1_000, MINUTE_MS);
    expect(minute.waitFor(1, MINUTE_MS)).toBe(MINUTE_MS);
  });

  test('no 60 s ever hold more, whatever comes when', () => {
    const arrivals = fc.array(fc.record({ after: fc.nat(30_000), tokens: fc.integer({ min: 1, max: 50 }) }));
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 5 }), (calls, requestsPerMinute) => {
        const minute = new Minute({ requestsPerMinute, tokensPerMinute: 50 });
        let now = 0;
        const sent = calls.map(({ after, tokens }) => {
          now = send(minute, tokens, now + after);
          return { at: now, tokens };
        });
        for (const { at } of sent) {
          const within = sent.filter((other) => other.at > at - MINUTE_MS && other.at <= at);
          expect(within.length).toBeLessThanOrEqual(requestsPerMinute);
          expect(within.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(50);
        }
      }),
    );
  });
});
