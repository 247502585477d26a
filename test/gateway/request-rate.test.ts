import fc from 'fast-check';
import { RequestRates } from '../../src/gateway/access/keys';

const keyOf = (requestsPerMinute: number | null, id = 'a') => ({ id, requestsPerMinute });

function ratesAt(): { readonly rates: RequestRates; readonly clock: { now: number } } {
  const clock = { now: 0 };
  return { rates: new RequestRates(() => clock.now), clock };
}

test('admits as many requests as the rate at once, and the next one when the first is a minute old', () => {
  const { rates, clock } = ratesAt();
  expect([1, 2, 3].map(() => rates.take(keyOf(3)))).toEqual([null, null, null]);
  clock.now = 20_500;
  expect(rates.take(keyOf(3))).toBe(40);
  clock.now = 59_999;
  expect(rates.take(keyOf(3))).toBe(1);
  clock.now = 60_000;
  expect(rates.take(keyOf(3))).toBeNull();
});

test('keys are counted separately, and a key without a rate is never refused', () => {
  const { rates } = ratesAt();
  expect(rates.take(keyOf(1, 'a'))).toBeNull();
  expect(rates.take(keyOf(1, 'b'))).toBeNull();
  expect(rates.take(keyOf(1, 'a'))).toBe(60);
  for (let request = 0; request < 100; request += 1) expect(rates.take(keyOf(null, 'c'))).toBeNull();
});

test('no minute holds more than the rate, and a caller that waits as told is admitted', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), steps, (rate, pauses) => {
      const { rates, clock } = ratesAt();
      const taken: number[] = [];
      for (const pause of pauses) {
        clock.now += pause;
        const wait = rates.take(keyOf(rate));
        const within = taken.filter((time) => time > clock.now - 60_000).length;
        expect(wait === null).toBe(within < rate);
        if (wait !== null) {
          clock.now += wait * 1000;
          expect(rates.take(keyOf(rate))).toBeNull();
        }
        taken.push(clock.now);
      }
    }),
  );
});

test('forgets keys that have been silent for a minute', () => {
  const { rates, clock } = ratesAt();
  rates.take(keyOf(5, 'busy'));
  for (let index = 0; index < 100; index += 1) rates.take(keyOf(5, `key ${index}`));
  clock.now = 30_000;
  rates.take(keyOf(5, 'busy'));
  expect(rates).toHaveProperty('times.size', 101);
  clock.now = 60_000;
  rates.take(keyOf(5, 'new'));
  expect(rates).toHaveProperty('times.size', 2);
});
