import { type Permit, RateLimiter } from '../../../src/activities/rate-limits/limiter';
import { OwnStates } from '../../../src/activities/rate-limits/pacing';
import { LEASE_MS, type RateLimits } from '../../../src/activities/rate-limits/window';

/** States that can be away, and that count how often they are read and written. */
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

const TOKENS = 100;
const now = (): number => Date.now();

let states: CountedStates;
beforeEach(() => {
  jest.useFakeTimers();
  states = new CountedStates(now);
});
afterEach(() => {
  jest.useRealTimers();
});

function open(process: string, limits: Partial<RateLimits>): RateLimiter {
  const none = { requestsPerMinute: Infinity, tokensPerMinute: Infinity, concurrency: Infinity };
  const settings = { ...none, ...limits, failures: Infinity, pauseMs: 0 };
  return new RateLimiter(settings, { states, name: 'model', process }, { now, random: () => 0 });
}

async function enter(limiter: RateLimiter): Promise<Permit> {
  const permit = await limiter.acquire(TOKENS);
  if ('reason' in permit) throw new Error(`no room: ${permit.reason}`);
  return permit;
}

test('what finds no room is read, and not written', async () => {
  const limiter = open('one', { requestsPerMinute: 10 });
  await Promise.all(Array.from({ length: 10 }, () => enter(limiter)));
  expect([states.reads, states.writes]).toEqual([10, 10]);
  await Promise.all([limiter.acquire(TOKENS), limiter.acquire(TOKENS)]);
  expect([states.reads, states.writes]).toEqual([12, 10]);
});

test('a place is kept for as long as its process lives, and half a minute longer', async () => {
  const renewals = jest.spyOn(globalThis, 'setInterval');
  const [one, other] = [open('one', { concurrency: 1 }), open('other', { concurrency: 1 })];
  await enter(one);
  await jest.advanceTimersByTimeAsync(10 * LEASE_MS);
  expect(await other.acquire(TOKENS)).toMatchObject({ reason: 'concurrency' });
  // From here on it says no more.
  for (const { value } of renewals.mock.results) clearInterval(value as NodeJS.Timeout);
  await jest.advanceTimersByTimeAsync(LEASE_MS - 1);
  expect(await other.acquire(TOKENS)).toMatchObject({ reason: 'concurrency' });
  await jest.advanceTimersByTimeAsync(1);
  await enter(other);
});

test('while the store is away nothing is let through, and what a call leaves unused stays counted', async () => {
  const limiter = open('one', { tokensPerMinute: 100 });
  const permit = await enter(limiter);
  states.isAway = true;
  permit.release({ tokens: 0, health: 'good' });
  await expect(limiter.acquire(TOKENS)).rejects.toThrow('away');
  states.isAway = false;
  expect(await limiter.acquire(TOKENS)).toMatchObject({ reason: 'rate' });
});

test('a request that is sent late is counted anew', async () => {
  const limiter = open('one', { requestsPerMinute: 10 });
  const permit = await enter(limiter);
  jest.advanceTimersByTime(1_000);
  expect(await permit.confirm()).toBeNull();
  const { text, now: at } = await states.read('model');
  const { sent } = JSON.parse(text ?? '') as { sent: { at: number; requests: number }[] };
  expect(sent.filter(({ requests }) => requests > 0)).toEqual([
    { at: Math.floor(at / 500) * 500, requests: 1, tokens: TOKENS },
  ]);
});
