import { type Place, RateBook, type RateLimits } from '../../../src/activities/rate-limits/rate-book';
import { LEASE_MS } from '../../../src/activities/rate-limits/rate-window';
import { OwnStates } from '../../../src/store/shared-states';

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

const request = { worker: 'ada', inputTokens: 10, maxOutputTokens: 90 };
const now = (): number => Date.now();

let states: CountedStates;
beforeEach(() => {
  jest.useFakeTimers();
  states = new CountedStates(now);
});
afterEach(() => {
  jest.useRealTimers();
});

function openBook(process: string, limits: Partial<RateLimits>): RateBook {
  const all = { requestsPerMinute: Infinity, tokensPerMinute: Infinity, concurrency: Infinity, ...limits };
  return new RateBook(all, { states, name: 'model', process }, now);
}

async function enter(book: RateBook): Promise<Place> {
  const place = await book.enter(request);
  if ('reason' in place) throw new Error(`no room: ${place.reason}`);
  return place;
}

test('what comes at once is counted by one read and one write, and what finds no room is only read', async () => {
  const book = openBook('one', { requestsPerMinute: 10 });
  // The first goes at once, and the others together behind it.
  await Promise.all(Array.from({ length: 10 }, () => enter(book)));
  expect([states.reads, states.writes]).toEqual([2, 2]);
  await Promise.all([book.enter(request), book.enter(request)]);
  expect([states.reads, states.writes]).toEqual([4, 2]);
});

test('a place is kept for as long as its process lives, and half a minute longer', async () => {
  const renewals = jest.spyOn(globalThis, 'setInterval');
  const [one, other] = [openBook('one', { concurrency: 1 }), openBook('other', { concurrency: 1 })];
  await enter(one);
  await jest.advanceTimersByTimeAsync(10 * LEASE_MS);
  expect(await other.enter(request)).toMatchObject({ reason: 'concurrency' });
  // From here on it says no more.
  for (const { value } of renewals.mock.results) clearInterval(value as NodeJS.Timeout);
  await jest.advanceTimersByTimeAsync(LEASE_MS - 1);
  expect(await other.enter(request)).toMatchObject({ reason: 'concurrency' });
  await jest.advanceTimersByTimeAsync(1);
  await enter(other);
});

test('what a call came to is told to the store once it is back', async () => {
  const book = openBook('one', { tokensPerMinute: 100 });
  const place = await enter(book);
  states.isAway = true;
  place.leave({ inputTokens: 10, outputTokens: 5 });
  await expect(book.enter(request)).rejects.toThrow('away');
  await jest.advanceTimersByTimeAsync(5_000);
  states.isAway = false;
  expect(await book.enter(request)).toMatchObject({ reason: 'rate', tokens: 100 });
  await jest.advanceTimersByTimeAsync(5_000);
  await enter(book);
});
