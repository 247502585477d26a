import fc from 'fast-check';
import { type Holdings, keptCheckpoints } from '../../src/training/activities/forget-checkpoints';
import { cycleName } from '../../src/training/ids';

const runs = fc.constantFrom('nightly', 'nightly-2', 'other');
const names = fc.oneof(
  fc.constantFrom('base', 'warm', 'warm-1a2b'),
  fc.integer({ min: 1, max: 60 }).map(cycleName),
);
const holdings: fc.Arbitrary<Holdings> = fc.record({
  trainRun: fc.constant('nightly'),
  names: fc.uniqueArray(names, { maxLength: 30 }),
  needed: fc.array(fc.record({ trainRun: runs, name: names }), { maxLength: 10 }),
  keep: fc.record({ last: fc.nat(8), every: fc.option(fc.integer({ min: 1, max: 12 })) }),
});

/** Lists the reasons for each name to stay; the last cycles are those that fewer than `last` others come after. */
function reasons({ trainRun, names, needed, keep }: Holdings, name: string): boolean[] {
  const later = names.filter((other) => /^\d/.test(other) && other > name);
  return [
    !/^\d/.test(name),
    needed.some((each) => each.trainRun === trainRun && each.name === name),
    later.length < keep.last,
    keep.every !== null && Number(name) % keep.every === 0,
  ];
}

test('a checkpoint stays if and only if somebody needs it, the settings name it, or no cycle made it', () => {
  fc.assert(
    fc.property(holdings, (held) => {
      const expected = held.names.filter((name) => reasons(held, name).includes(true));
      expect(keptCheckpoints(held)).toEqual(expected);
    }),
  );
});

test('by name: what serves, the last two, and each tenth', () => {
  const kept = keptCheckpoints({
    trainRun: 'nightly',
    names: ['000003', '000009', '000010', '000011', '000012', 'base'],
    needed: [
      { trainRun: 'nightly', name: '000003' },
      { trainRun: 'other', name: '000009' },
    ],
    keep: { last: 2, every: 10 },
  });
  expect(kept).toEqual(['000003', '000010', '000011', '000012', 'base']);
});
