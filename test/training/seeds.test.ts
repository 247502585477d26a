import fc from 'fast-check';
import { randomFrom, seedOf, shuffled } from '../../src/statistics/chance';
import { samplingSeed } from '../../src/training/draw';

const group = { seed: 7, cycle: 3, draw: 1, round: 0, purpose: 'training' } as const;

test('a seed is a number that every sampling server accepts, and the same for the same parts', () => {
  expect(seedOf('a', 'bc')).not.toBe(seedOf('ab', 'c'));
  expect(seedOf(1, 23)).not.toBe(seedOf('1', 23));
  const part = fc.oneof(fc.string(), fc.integer());
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const seed = seedOf(...parts);
      expect(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31).toBe(true);
      expect(seedOf(...parts)).toBe(seed);
    }),
  );
});

test('no two nearby groups are sampled with the same seed', () => {
  const seeds = new Set<number>();
  for (let cycle = 1; cycle <= 20; cycle++) {
    for (let draw = 0; draw < 20; draw++) {
      for (const round of [0, 1]) seeds.add(samplingSeed({ ...group, cycle, draw, round }));
    }
  }
  seeds.add(samplingSeed({ ...group, purpose: 'evaluation' }));
  seeds.add(samplingSeed({ ...group, seed: 8 }));
  expect(seeds.size).toBe(20 * 20 * 2 + 2);
});

test('shuffling makes each order of three equally likely', () => {
  const counts = new Map<string, number>();
  for (let seed = 0; seed < 6000; seed++) {
    const order = shuffled(['a', 'b', 'c'], randomFrom(seed)).join('');
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  expect(counts.size).toBe(6);
  for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
});

test('what a seed stands for never changes, so a night that continues under a later version draws the same', () => {
  const random = randomFrom(42, 'epoch', 0);
  expect([seedOf(42, 'training', 1, 0, 0), random(), random()]).toEqual([
    768618049, 0.3273922218941152, 0.8817614789586514,
  ]);
});
