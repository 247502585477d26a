import {
  RateLimiter,
  type RateLimiterSettings,
  type Permit,
  type RateRefusal,
  type Report,
} from '../../../src/activities/rate-limits/limiter';

const GOOD: Report = { tokens: null, health: 'good' };
const BAD: Report = { tokens: null, health: 'bad' };

/** A gate in a world where time passes and dice fall as a test wants it. */
function openGate(settings: Partial<RateLimiterSettings>) {
  const world = { now: 0, random: 0 };
  const all = {
    requestsPerMinute: Infinity,
    tokensPerMinute: Infinity,
    concurrency: Infinity,
    circuit: null,
  };
  const gate = new RateLimiter({ ...all, ...settings }, { now: () => world.now, random: () => world.random });
  return { gate, world };
}

function admitted(result: Permit | RateRefusal): Permit {
  if (!result.admitted) throw new Error(`turned away: ${result.reason}, ${result.waitMs} ms`);
  return result;
}

describe('a gate', () => {
  test('lets as many through at a time as it may, and the next one when somebody has left', () => {
    const { gate } = openGate({ concurrency: 2 });
    const first = admitted(gate.acquire(1));
    admitted(gate.acquire(1));
    expect(gate.acquire(1)).toMatchObject({ admitted: false, reason: 'concurrency' });
    first.release({ tokens: null, health: 'unknown' });
    admitted(gate.acquire(1));
  });

  test('tells those who wait for a place to come again when calls usually end, within reason', () => {
    const { gate, world } = openGate({ concurrency: 1 });
    const callOf = (ms: number): number => {
      const passage = admitted(gate.acquire(1));
      world.now += ms;
      passage.release(GOOD);
      const next = admitted(gate.acquire(1));
      const refusal = gate.acquire(1);
      next.release(GOOD);
      world.now += 60 * 60_000;
      return refusal.admitted ? 0 : refusal.waitMs;
    };
    expect([callOf(4_000), callOf(1), callOf(600_000)]).toEqual([4_000, 100, 30_000]);
  });

  test('keeps a rate, and tells when there is room', () => {
    const { gate, world } = openGate({ requestsPerMinute: 1 });
    admitted(gate.acquire(1)).release(GOOD);
    world.now = 20_000;
    expect(gate.acquire(1)).toEqual({ admitted: false, reason: 'rate', waitMs: 40_000 });
    world.now = 60_000;
    admitted(gate.acquire(1));
  });

  test('counts tokens as estimated until the reply tells them', () => {
    const { gate } = openGate({ tokensPerMinute: 1_000 });
    const passage = admitted(gate.acquire(900));
    expect(gate.acquire(200)).toMatchObject({ reason: 'rate' });
    passage.release({ tokens: 100, health: 'good' });
    admitted(gate.acquire(200));
  });

  test('spreads those who wait over the time in which there will be room for all of them', () => {
    const { gate, world } = openGate({ requestsPerMinute: 60 });
    for (let sent = 0; sent < 60; sent += 1) admitted(gate.acquire(1)).release(GOOD);
    world.random = 0.5;
    const waits = Array.from({ length: 5 }, () => {
      const refusal = gate.acquire(1);
      return refusal.admitted ? 0 : refusal.waitMs;
    });
    expect(waits).toEqual([60_000, 60_500, 61_000, 61_500, 62_000]);
  });

  test('forgets those whose time to come again has passed', () => {
    const { gate, world } = openGate({ requestsPerMinute: 1 });
    world.random = 1;
    admitted(gate.acquire(1)).release(GOOD);
    gate.acquire(1);
    world.now = 60_000;
    admitted(gate.acquire(1)).release(GOOD);
    expect(gate.acquire(1)).toMatchObject({ waitMs: 60_000 });
  });

  test('turns calls away from a model that fails, lets one probe it after a pause, and all once it answered', () => {
    const { gate, world } = openGate({ circuit: { failures: 2, pauseMs: 30_000 } });
    admitted(gate.acquire(1)).release(BAD);
    admitted(gate.acquire(1)).release(BAD);
    expect(gate.acquire(1)).toEqual({ admitted: false, reason: 'circuit', waitMs: 30_000 });
    world.now = 30_000;
    const probe = admitted(gate.acquire(1));
    expect(gate.acquire(1)).toMatchObject({ reason: 'circuit' });
    probe.release(GOOD);
    admitted(gate.acquire(1));
  });

  test('takes no place and no probe for somebody it turns away', () => {
    const { gate, world } = openGate({ requestsPerMinute: 2, circuit: { failures: 2, pauseMs: 1_000 } });
    admitted(gate.acquire(1)).release(BAD);
    admitted(gate.acquire(1)).release(BAD);
    world.now = 2_000;
    expect(gate.acquire(1)).toMatchObject({ reason: 'rate', waitMs: 58_000 });
    world.now = 60_000;
    admitted(gate.acquire(1)).release(GOOD);
  });

  test('spreads those who wait for a model that is left alone over a quarter of its pause', () => {
    const { gate, world } = openGate({ circuit: { failures: 1, pauseMs: 30_000 } });
    admitted(gate.acquire(1)).release(BAD);
    world.random = 0.5;
    expect(gate.acquire(1)).toMatchObject({ waitMs: 33_750 });
  });
});
