import fc from 'fast-check';
import type {
  Permit,
  RateLimiter,
  RateLimiterSettings,
  RequestReport,
} from '../../../src/activities/rate-limits/limiter';
import { OwnStates } from '../../../src/activities/rate-limits/pacing';
import { LEASE_MS, type RateRefusal } from '../../../src/activities/rate-limits/window';
import { openLimiter } from '../../support/open-limiter';

/** Time from which a request sent at 0 no longer counts. */
const PAST = 61_500;

const GOOD: RequestReport = { tokens: null, health: 'good' };
const BAD: RequestReport = { tokens: null, health: 'bad' };

let dice: jest.SpyInstance<number, []>;
beforeEach(() => {
  jest.useFakeTimers();
  dice = jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

function openGate(settings: Partial<RateLimiterSettings>): RateLimiter {
  return openLimiter(settings, new OwnStates());
}

function admitted(result: Permit | RateRefusal): Permit {
  if ('reason' in result) throw new Error(`turned away: ${result.reason}, ${result.waitMs} ms`);
  return result;
}

const TOKENS = 100;
const HOUR = 3_600_000;

/** States that can become unreadable, and that count reads and writes. */
class CountedStates extends OwnStates {
  isAway = false;
  reads = 0;
  writes = 0;

  override read(name: string) {
    this.reads += 1;
    return this.isAway ? Promise.reject(new Error('away')) : super.read(name);
  }

  override swap(name: string, text: string, version: number) {
    this.writes += 1;
    return super.swap(name, text, version);
  }
}

describe('a gate', () => {
  test('tells waiting calls to return when calls usually end, within bounds', async () => {
    const gate = openGate({ concurrency: 1 });
    const callOf = async (ms: number): Promise<number> => {
      const passage = admitted(await gate.acquire(1));
      jest.advanceTimersByTime(ms);
      passage.release(GOOD);
      const next = admitted(await gate.acquire(1));
      const refusal = await gate.acquire(1);
      next.release(GOOD);
      jest.advanceTimersByTime(60 * 60_000);
      return 'reason' in refusal ? refusal.waitMs : 0;
    };
    expect([await callOf(4_000), await callOf(1), await callOf(600_000)]).toEqual([4_000, 100, 30_000]);
  });

  test('spreads waiting calls over the time in which there will be room for all of them', async () => {
    const gate = openGate({ requestsPerMinute: 60 });
    for (let sent = 0; sent < 60; sent += 1) admitted(await gate.acquire(1)).release(GOOD);
    dice.mockReturnValue(0.5);
    const waits = [];
    for (let calls = 0; calls < 5; calls += 1) {
      const refusal = await gate.acquire(1);
      waits.push('reason' in refusal ? refusal.waitMs : 0);
    }
    expect(waits).toEqual([PAST, PAST + 500, PAST + 1_000, PAST + 1_500, PAST + 2_000]);
  });

  test('does not send waiting calls away for long after one long call', async () => {
    const gate = openGate({ concurrency: 1 });
    const long = admitted(await gate.acquire(1));
    jest.advanceTimersByTime(20 * 60_000);
    long.release(GOOD);
    admitted(await gate.acquire(1));
    dice.mockReturnValue(1);
    const waits = [];
    for (let calls = 0; calls < 3; calls += 1) {
      const refusal = await gate.acquire(1);
      waits.push('reason' in refusal ? refusal.waitMs : 0);
    }
    expect(waits).toEqual([30_000, 60_000, 90_000]);
  });

  test('forgets waiting calls whose time to return has passed', async () => {
    const gate = openGate({ requestsPerMinute: 1 });
    dice.mockReturnValue(1);
    admitted(await gate.acquire(1)).release(GOOD);
    await gate.acquire(1);
    jest.advanceTimersByTime(PAST);
    admitted(await gate.acquire(1)).release(GOOD);
    expect(await gate.acquire(1)).toMatchObject({ waitMs: PAST });
  });

  test('turns calls away from a failing model, allows one probe after a pause, and all calls once it is answered', async () => {
    const gate = openGate({ failures: 2, pauseMs: 30_000 });
    admitted(await gate.acquire(1)).release(BAD);
    admitted(await gate.acquire(1)).release(BAD);
    expect(await gate.acquire(1)).toEqual({ reason: 'circuit', waitMs: 30_000 });
    jest.advanceTimersByTime(30_000);
    const probe = admitted(await gate.acquire(1));
    expect(await gate.acquire(1)).toMatchObject({ reason: 'circuit' });
    probe.release(GOOD);
    admitted(await gate.acquire(1));
  });

  test('spreads calls that wait for a failing model over a quarter of its pause', async () => {
    const gate = openGate({ failures: 1, pauseMs: 30_000 });
    admitted(await gate.acquire(1)).release(BAD);
    dice.mockReturnValue(0.5);
    expect(await gate.acquire(1)).toMatchObject({ waitMs: 33_750 });
  });
});

describe('the gates of several processes', () => {
  let states: CountedStates;
  beforeEach(() => {
    states = new CountedStates();
  });

  async function enter(limiter: RateLimiter): Promise<Permit> {
    return admitted(await limiter.acquire(TOKENS));
  }

  test('a call that finds no room reads the state, and does not write it', async () => {
    const limiter = openLimiter({ requestsPerMinute: 10 }, states);
    await Promise.all(Array.from({ length: 10 }, () => enter(limiter)));
    expect([states.reads, states.writes]).toEqual([10, 10]);
    await Promise.all([limiter.acquire(TOKENS), limiter.acquire(TOKENS)]);
    expect([states.reads, states.writes]).toEqual([12, 10]);
  });

  test('a place is kept while its process lives, and for half a minute longer', async () => {
    const renewals = jest.spyOn(globalThis, 'setInterval');
    const [one, other] = [openLimiter({ concurrency: 1 }, states), openLimiter({ concurrency: 1 }, states)];
    await enter(one);
    await jest.advanceTimersByTimeAsync(10 * LEASE_MS);
    expect(await other.acquire(TOKENS)).toMatchObject({ reason: 'concurrency' });
    // From here on, the process renews its lease no more.
    for (const { value } of renewals.mock.results) clearInterval(value as NodeJS.Timeout);
    await jest.advanceTimersByTimeAsync(LEASE_MS - 1);
    expect(await other.acquire(TOKENS)).toMatchObject({ reason: 'concurrency' });
    await jest.advanceTimersByTimeAsync(1);
    await enter(other);
  });

  test('while the store is down, no call is let through, and unused tokens stay counted', async () => {
    const limiter = openLimiter({ tokensPerMinute: 100 }, states);
    const permit = await enter(limiter);
    states.isAway = true;
    permit.release({ tokens: 0, health: 'good' });
    await expect(limiter.acquire(TOKENS)).rejects.toThrow('away');
    states.isAway = false;
    expect(await limiter.acquire(TOKENS)).toMatchObject({ reason: 'rate' });
  });

  test('a place that the store confirmed late is moved before the request is sent', async () => {
    const limiter = openLimiter({ requestsPerMinute: 10 }, states);
    const read = states.read.bind(states);
    states.read = async (name) => {
      const found = await read(name);
      jest.advanceTimersByTime(7_000);
      return found;
    };
    const permit = await enter(limiter);
    states.read = read;
    expect(await permit.confirm()).toBeNull();
    expect(states.writes).toBe(2);
  });

  test('a request waits until its place is certain, however long the store takes to move it', async () => {
    const limiter = openLimiter({ requestsPerMinute: 10 }, states);
    const permit = await enter(limiter);
    jest.advanceTimersByTime(1_000);
    // Each write takes longer than a request may be late: it is moved ahead, to when it will be sent.
    const swap = states.swap.bind(states);
    let moves = 0;
    states.swap = async (...given) => {
      moves += 1;
      jest.advanceTimersByTime(7_000);
      return swap(...given);
    };
    expect(await permit.confirm()).toBeNull();
    expect(moves).toBe(2);
    const { text, now } = await states.read('model');
    const { sent, time } = JSON.parse(text ?? '') as {
      sent: { at: number; requests: number }[];
      time: number;
    };
    const [slot] = sent.filter(({ requests }) => requests > 0);
    const late = (slot?.at ?? 0) - time;
    // It may arrive from now on, and counts for a minute from then.
    expect(now - time - late).toBeLessThanOrEqual(500);
  });

  test('a request sent late counts from when it is sent; without a rate limit, any delay is allowed', async () => {
    const limiter = openLimiter({ requestsPerMinute: 10 }, states);
    const permit = await enter(limiter);
    jest.advanceTimersByTime(1_000);
    expect(await permit.confirm()).toBeNull();
    const { text, now: at } = await states.read('model');
    const { sent } = JSON.parse(text ?? '') as { sent: { at: number; requests: number }[] };
    expect(sent.filter(({ requests }) => requests > 0)).toEqual([
      { at: Math.floor(at / 500) * 500, requests: 1, tokens: TOKENS },
    ]);
    const withoutRate = await enter(openLimiter({ concurrency: 1 }, new OwnStates()));
    jest.advanceTimersByTime(PAST);
    expect(await withoutRate.confirm()).toBeNull();
  });
});

/** Which process asks when, and whether it was started anew before, with a clock that nobody knows. */
const someVisits = fc.array(
  fc.record({
    process: fc.nat(3),
    afterMs: fc.oneof(fc.nat(2_000), fc.nat(90_000)),
    isNew: fc.boolean(),
  }),
  { minLength: 20, maxLength: 80 },
);
const someOffsets = fc.array(fc.integer({ min: -2 * HOUR, max: 2 * HOUR }), { minLength: 4, maxLength: 4 });

test.each([
  ['none shares a clock', 4],
  ['two and two share one', 2],
  ['all share one', 1],
])(
  'no 60 s hold more requests than allowed, whatever the clocks of processes say, if %s',
  async (_, clocks) => {
    const property = fc.asyncProperty(
      someVisits,
      someOffsets,
      fc.integer({ min: 1, max: 5 }),
      async (visits, offsets, requestsPerMinute) => {
        const shared = new OwnStates();
        let starts = 0;
        const start = (process: number, clock: string): RateLimiter => {
          const offset = offsets[process % clocks] ?? 0;
          const read = async (name: string) => ({
            ...(await shared.read(name)),
            now: performance.now() + offset,
            clock,
          });
          return openLimiter({ requestsPerMinute }, { read, swap: (...given) => shared.swap(...given) });
        };
        const limiters = [0, 1, 2, 3].map((process) => start(process, `clock ${process % clocks}`));
        const sent: number[] = [];
        for (const { process, afterMs, isNew } of visits) {
          jest.advanceTimersByTime(afterMs);
          if (isNew) limiters[process] = start(process, `later clock ${(starts += 1)}`);
          const found = await limiters[process]?.acquire(1);
          if (found !== undefined && !('reason' in found)) sent.push(performance.now());
        }
        const peaks = sent.map((at) => sent.filter((other) => other >= at && other < at + 60_000).length);
        expect(Math.max(0, ...peaks)).toBeLessThanOrEqual(requestsPerMinute);
        // Nobody waits for ever: whoever asks again after a minute is let through.
        for (const limiter of limiters) {
          await limiter.acquire(1);
          jest.advanceTimersByTime(PAST);
          admitted(await limiter.acquire(1));
        }
      },
    );
    await fc.assert(property, { numRuns: 50 });
  },
);
