import fc from 'fast-check';
import {
  type Booking,
  LEASE_MS,
  MARGIN_MS,
  MINUTE_MS,
  type Rate,
  RateWindow,
} from '../../../src/activities/rate-limits/rate-window';

const rate = (limits: Partial<Rate>): Rate => ({
  requestsPerMinute: Infinity,
  tokensPerMinute: Infinity,
  ...limits,
});

/** A window as it is handed on: each one that looks at it reads what the one before wrote. */
function handedOn() {
  let text: string | null = null;
  return <T>(now: number, work: (window: RateWindow) => T): T => {
    const window = RateWindow.read(text, now);
    const value = work(window);
    text = window.toString();
    return value;
  };
}

/** Until what is sent at the very beginning of half a second is past. */
const PAST = MINUTE_MS + MARGIN_MS + 500;

describe('a window', () => {
  test('holds so many requests, and the next one fits when the first is past', () => {
    const at = handedOn();
    const limits = rate({ requestsPerMinute: 2 });
    at(0, (window) => window.take(1));
    at(10_000, (window) => window.take(1));
    const waitAt = (now: number): number => at(now, (window) => window.waitFor(1, limits));
    expect([20_000, PAST - 1, PAST].map(waitAt)).toEqual([PAST - 20_000, 1, 0]);
  });

  test('holds so many tokens, and waits until enough of them are past', () => {
    const at = handedOn();
    for (const now of [0, 1_000, 2_000]) at(now, (window) => window.take(30));
    const waitFor = (tokens: number): number =>
      at(3_000, (window) => window.waitFor(tokens, rate({ tokensPerMinute: 100 })));
    expect([10, 40, 41].map(waitFor)).toEqual([0, PAST - 3_000, PAST - 2_000]);
  });

  test('goes by the tokens that a request is told to have had, once that is known', () => {
    const at = handedOn();
    const limits = rate({ tokensPerMinute: 100 });
    const booking = at(0, (window) => window.take(90));
    expect(at(0, (window) => window.waitFor(20, limits))).toBe(PAST);
    at(5_000, (window) => {
      window.correct(booking, 10);
    });
    expect(at(5_000, (window) => window.waitFor(90, limits))).toBe(0);
  });

  test('lets a request through that is larger than all of it, alone', () => {
    const at = handedOn();
    const limits = rate({ tokensPerMinute: 100 });
    at(0, (window) => window.take(1));
    expect(at(0, (window) => window.waitFor(1_000, limits))).toBe(PAST);
    at(PAST, (window) => window.take(1_000));
    expect(at(PAST, (window) => window.waitFor(1, limits))).toBe(PAST);
  });

  test('counts a request anew that is sent late, unless its room may have gone to others', () => {
    const at = handedOn();
    const limits = rate({ requestsPerMinute: 1 });
    const booking = at(0, (window) => window.take(1));
    const moved = at(30_000, (window) => window.move(booking));
    expect(at(30_000, (window) => window.waitFor(1, limits))).toBe(PAST);
    expect(at(PAST + 30_000, (window) => window.move(moved ?? booking))).toBeNull();
  });

  test('remembers who has how many calls under way, for as long as they say so', () => {
    const at = handedOn();
    at(0, (window) => {
      window.hold('one', 2);
    });
    at(LEASE_MS - 1, (window) => {
      window.hold('other', 3);
    });
    expect(at(LEASE_MS - 1, ({ calls, senders }) => [calls, senders])).toEqual([5, 2]);
    expect(at(LEASE_MS, ({ calls, senders }) => [calls, senders])).toEqual([3, 1]);
  });

  test('of a clock that was set back is full for another minute at most', () => {
    const at = handedOn();
    at(3_600_000, (window) => {
      window.take(1);
      window.hold('one', 1);
    });
    const found = at(0, (window) => [window.waitFor(1, rate({ requestsPerMinute: 1 })), window.calls]);
    expect(found).toEqual([PAST, 1]);
    expect(at(PAST, (window) => [window.waitFor(1, rate({ requestsPerMinute: 1 })), window.calls])).toEqual([
      0, 0,
    ]);
  });

  test('expects answers as long as may be, until it has seen some; then of each worker its own', () => {
    const at = handedOn();
    const expected = (worker: string, most = 4_096): number =>
      at(0, (window) => window.expectedOutput(worker, most));
    expect(expected('ada')).toBe(4_096);
    at(0, (window) => {
      window.learn('ada', 100);
    });
    expect([expected('ada'), expected('ada', 150), expected('bob')]).toEqual([200, 150, 4_096]);
    for (let answers = 0; answers < 30; answers += 1) {
      at(0, (window) => {
        window.learn('ada', answers % 2 === 0 ? 80 : 120);
      });
    }
    expect(expected('ada')).toBeGreaterThan(120);
    expect(expected('ada')).toBeLessThan(180);
  });
});

/** A call as it befalls: it comes, is sent some time after it was counted, and is answered. */
const someCall = fc.record({
  after: fc.nat(20_000),
  sentAfter: fc.nat(MARGIN_MS),
  answeredAfter: fc.nat(90_000),
  worker: fc.constantFrom('ada', 'bob'),
  input: fc.integer({ min: 1, max: 20 }),
  output: fc.nat(60),
});

interface Sent {
  readonly at: number;
  readonly booked: number;
  readonly counted: number;
}

/** Plays calls that are let through as soon as they may, each looked at by whoever has it; what the provider saw. */
function play(
  calls: readonly (typeof someCall extends fc.Arbitrary<infer Call> ? Call : never)[],
  limits: Rate,
) {
  const at = handedOn();
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
  for (const { after, sentAfter, answeredAfter, worker, input, output } of calls) {
    goTo(now + after);
    const tokensNow = (window: RateWindow): number => input + window.expectedOutput(worker, 40);
    let wait = at(now, (window) => window.waitFor(tokensNow(window), limits));
    while (wait > 0) {
      goTo(now + wait);
      wait = at(now, (window) => window.waitFor(tokensNow(window), limits));
    }
    const booking: Booking = at(now, (window) => window.take(tokensNow(window)));
    sent.push({ at: now + sentAfter, booked: booking.tokens, counted: input + output });
    const settle = (window: RateWindow): void => {
      window.correct(booking, input + output);
      if (output > 0) window.learn(worker, output);
    };
    due.push({ at: now + sentAfter + answeredAfter, settle });
  }
  return sent;
}

test('no 60 s of the provider hold more requests, nor more tokens than estimates were too low, whatever comes when', () => {
  const limits = fc.record({
    requestsPerMinute: fc.integer({ min: 1, max: 6 }),
    tokensPerMinute: fc.integer({ min: 60, max: 200 }),
  });
  fc.assert(
    fc.property(fc.array(someCall, { maxLength: 40 }), limits, (calls, rates) => {
      const sent = play(calls, rates);
      expect(sent).toHaveLength(calls.length);
      for (const { at } of sent) {
        const within = sent.filter((other) => other.at >= at && other.at < at + MINUTE_MS);
        const tokens = within.reduce((sum, { counted }) => sum + counted, 0);
        const tooLow = within.reduce((sum, { booked, counted }) => sum + Math.max(0, counted - booked), 0);
        expect(within.length).toBeLessThanOrEqual(rates.requestsPerMinute);
        expect(tokens - tooLow).toBeLessThanOrEqual(rates.tokensPerMinute);
      }
    }),
  );
});
