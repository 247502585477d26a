import fc from 'fast-check';
import {
  LEASE_MS,
  MARGIN_MS,
  MINUTE_MS,
  type RateLimits,
  type SlotReservation,
  RateWindow,
} from '../../../src/activities/rate-limits/window';

const UNLIMITED = { requestsPerMinute: Infinity, tokensPerMinute: Infinity, concurrency: Infinity };

/** Returns a shared window: each user of it reads the text that the previous one wrote. */
function handedOn(limits: Partial<RateLimits> = {}) {
  let text: string | null = null;
  const at = <T>(now: number, work: (window: RateWindow) => T, own = { process: 'one', calls: 0 }): T => {
    const reading = { now, clock: 'shared', atLeast: -Infinity };
    const window = new RateWindow(text, reading, { ...own, askedAt: performance.now() });
    const value = work(window);
    text = window.toString();
    return value;
  };
  const reserve = (now: number, tokens = 1, own?: { process: string; calls: number }) =>
    at(now, (window) => window.reserve(tokens, { ...UNLIMITED, ...limits }), own);
  return { at, reserve };
}

function reserved(found: ReturnType<RateWindow['reserve']>): SlotReservation {
  if ('reason' in found) throw new Error(`no room: ${found.reason}`);
  return found;
}

const roomIn = (waitMs: number) => expect.objectContaining({ reason: 'rate', waitMs }) as unknown;
const room = expect.objectContaining({ at: expect.any(Number) as number }) as unknown;

/** Time until a request sent at the very start of a slot of half a second no longer counts. */
const PAST = MINUTE_MS + MARGIN_MS + 500;

describe('a window', () => {
  test('holds a number of requests, and admits the next one once the first is past', () => {
    const { reserve } = handedOn({ requestsPerMinute: 2 });
    reserve(0);
    reserve(10_000);
    const found = [20_000, PAST - 1, PAST].map((now) => reserve(now));
    expect(found).toEqual([roomIn(PAST - 20_000), roomIn(1), room]);
  });

  test('holds a number of tokens, and waits until enough of them are past', () => {
    const { reserve } = handedOn({ tokensPerMinute: 100 });
    for (const now of [0, 1_000, 2_000]) reserve(now, 30);
    const found = [40, 41, 10].map((tokens) => reserve(3_000, tokens));
    expect(found).toEqual([roomIn(PAST - 3_000), roomIn(PAST - 2_000), room]);
  });

  test('replaces reserved tokens with those that a request used', () => {
    const { at, reserve } = handedOn({ tokensPerMinute: 100 });
    const reservation = reserved(reserve(0, 90));
    expect(reserve(0, 20)).toEqual(roomIn(PAST));
    at(5_000, (window) => {
      window.settle(reservation, 10);
    });
    expect(reserve(5_000, 90)).toEqual(room);
  });

  test('admits a request that exceeds the whole limit, alone', () => {
    const { reserve } = handedOn({ tokensPerMinute: 100 });
    reserve(0);
    expect(reserve(0, 1_000)).toEqual(roomIn(PAST));
    expect(reserve(PAST, 1_000)).toEqual(room);
    expect(reserve(PAST)).toEqual(roomIn(PAST));
  });

  test('counts a late request from when it is sent, unless its room may have gone to others', () => {
    const { at, reserve } = handedOn({ requestsPerMinute: 1 });
    const reservation = reserved(reserve(0));
    const moved = at(30_000, (window) => window.move(reservation, 0));
    expect(reserve(30_000)).toEqual(roomIn(PAST));
    expect(at(PAST + 30_000, (window) => window.move(moved ?? reservation, 0))).toBeNull();
  });

  test('remembers how many calls each process has under way, until its lease ends', () => {
    const { reserve } = handedOn({ concurrency: 6 });
    const others = { process: 'other', calls: 2 };
    reserve(0, 1, { process: 'one', calls: 2 });
    reserve(LEASE_MS - 1, 1, others);
    expect(reserve(LEASE_MS - 1, 1, { ...others, calls: 3 })).toMatchObject({ reason: 'concurrency' });
    expect(reserve(LEASE_MS, 1, { ...others, calls: 3 })).toEqual(room);
  });
});

const MOST_OUTPUT = 40;

/** A random call: it arrives, is sent some time after its reservation, and is answered. */
const someCall = fc.record({
  after: fc.nat(20_000),
  sentAfter: fc.nat(MARGIN_MS),
  answeredAfter: fc.nat(90_000),
  input: fc.integer({ min: 1, max: 20 }),
  output: fc.nat(MOST_OUTPUT),
});

interface Sent {
  readonly at: number;
  readonly used: number;
}

/** Sends each call as soon as the window admits it, and returns what the provider saw. */
function play(
  calls: readonly (typeof someCall extends fc.Arbitrary<infer Call> ? Call : never)[],
  limits: Partial<RateLimits>,
) {
  const { at, reserve } = handedOn(limits);
  const sent: Sent[] = [];
  let due: { readonly at: number; readonly settle: (window: RateWindow) => void }[] = [];
  let now = 0;
  const goTo = (time: number): void => {
    for (const { at: when, settle } of due.filter((each) => each.at <= time).sort((a, b) => a.at - b.at)) {
      at(when, settle);
    }
    due = due.filter((each) => each.at > time);
    now = time;
  };
  for (const { after, sentAfter, answeredAfter, input, output } of calls) {
    goTo(now + after);
    let found = reserve(now, input + MOST_OUTPUT);
    while ('reason' in found) {
      goTo(now + found.waitMs);
      found = reserve(now, input + MOST_OUTPUT);
    }
    const reservation = found;
    sent.push({ at: now + sentAfter, used: input + output });
    const settle = (window: RateWindow): void => {
      window.settle(reservation, input + output);
    };
    due.push({ at: now + sentAfter + answeredAfter, settle });
  }
  return sent;
}

test('whenever calls come, the provider sees no more requests or tokens in any 60 s than allowed', () => {
  const limits = fc.record({
    requestsPerMinute: fc.integer({ min: 1, max: 6 }),
    tokensPerMinute: fc.integer({ min: 20 + MOST_OUTPUT, max: 200 }),
  });
  fc.assert(
    fc.property(fc.array(someCall, { maxLength: 40 }), limits, (calls, rates) => {
      const sent = play(calls, rates);
      expect(sent).toHaveLength(calls.length);
      for (const { at } of sent) {
        const within = sent.filter((other) => other.at >= at && other.at < at + MINUTE_MS);
        expect(within.length).toBeLessThanOrEqual(rates.requestsPerMinute);
        expect(within.reduce((sum, { used }) => sum + used, 0)).toBeLessThanOrEqual(rates.tokensPerMinute);
      }
    }),
  );
});
