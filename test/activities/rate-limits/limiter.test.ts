import {
  RateLimiter,
  type RateLimiterSettings,
  type Permit,
  type Report,
} from '../../../src/activities/rate-limits/limiter';
import type { RateRefusal } from '../../../src/activities/rate-limits/window';
import { OwnStates } from '../../../src/activities/rate-limits/pacing';

/** Until what was sent at 0 counts no longer. */
const PAST = 61_500;

const GOOD: Report = { tokens: null, health: 'good' };
const BAD: Report = { tokens: null, health: 'bad' };

/** A gate in a world where time passes and dice fall as a test wants it. */
function openGate(settings: Partial<RateLimiterSettings>) {
  const world = { now: 0, random: 0 };
  const all = {
    requestsPerMinute: Infinity,
    tokensPerMinute: Infinity,
    concurrency: Infinity,
    failures: Infinity,
    pauseMs: 0,
  };
  const now = (): number => world.now;
  const counting = { states: new OwnStates(now), name: 'm', process: 'p' };
  const gate = new RateLimiter({ ...all, ...settings }, counting, { now, random: () => world.random });
  return {
    acquire: (tokens: number) => gate.acquire(tokens),
    world,
  };
}

function admitted(result: Permit | RateRefusal): Permit {
  if ('reason' in result) throw new Error(`turned away: ${result.reason}, ${result.waitMs} ms`);
  return result;
}

describe('a gate', () => {
  test('tells those who wait for a place to come again when calls usually end, within reason', async () => {
    const { acquire, world } = openGate({ concurrency: 1 });
    const callOf = async (ms: number): Promise<number> => {
      const passage = admitted(await acquire(1));
      world.now += ms;
      passage.release(GOOD);
      const next = admitted(await acquire(1));
      const refusal = await acquire(1);
      next.release(GOOD);
      world.now += 60 * 60_000;
      return 'reason' in refusal ? refusal.waitMs : 0;
    };
    expect([await callOf(4_000), await callOf(1), await callOf(600_000)]).toEqual([4_000, 100, 30_000]);
  });

  test('spreads those who wait over the time in which there will be room for all of them', async () => {
    const { acquire, world } = openGate({ requestsPerMinute: 60 });
    for (let sent = 0; sent < 60; sent += 1) admitted(await acquire(1)).release(GOOD);
    world.random = 0.5;
    const waits = [];
    for (let calls = 0; calls < 5; calls += 1) {
      const refusal = await acquire(1);
      waits.push('reason' in refusal ? refusal.waitMs : 0);
    }
    expect(waits).toEqual([PAST, PAST + 500, PAST + 1_000, PAST + 1_500, PAST + 2_000]);
  });

  test('forgets those whose time to come again has passed', async () => {
    const { acquire, world } = openGate({ requestsPerMinute: 1 });
    world.random = 1;
    admitted(await acquire(1)).release(GOOD);
    await acquire(1);
    world.now = PAST;
    admitted(await acquire(1)).release(GOOD);
    expect(await acquire(1)).toMatchObject({ waitMs: PAST });
  });

  test('turns calls away from a model that fails, lets one probe it after a pause, and all once it answered', async () => {
    const { acquire, world } = openGate({ failures: 2, pauseMs: 30_000 });
    admitted(await acquire(1)).release(BAD);
    admitted(await acquire(1)).release(BAD);
    expect(await acquire(1)).toEqual({ reason: 'circuit', waitMs: 30_000 });
    world.now = 30_000;
    const probe = admitted(await acquire(1));
    expect(await acquire(1)).toMatchObject({ reason: 'circuit' });
    probe.release(GOOD);
    admitted(await acquire(1));
  });

  test('spreads those who wait for a model that is left alone over a quarter of its pause', async () => {
    const { acquire, world } = openGate({ failures: 1, pauseMs: 30_000 });
    admitted(await acquire(1)).release(BAD);
    world.random = 0.5;
    expect(await acquire(1)).toMatchObject({ waitMs: 33_750 });
  });
});
