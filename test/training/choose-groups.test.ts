import fc from 'fast-check';
import { chooseGroups } from '../../src/training/draw';
import { hasSpread } from '../../src/training/rewards';

/**
 * Draws groups until the choice is over.
 *
 * @param good whether the group of each draw has a spread
 * @param next which of so many that are under way is over first
 */
function play(wanted: number, good: readonly boolean[], next: (underWay: number) => number): number[] {
  const spreads: (boolean | null)[] = [];
  const underWay: number[] = [];
  const choose = (): ReturnType<typeof chooseGroups> => {
    const choice = chooseGroups({ wanted, maxDraws: good.length, spreads });
    for (let started = 0; started < choice.more; started++) {
      underWay.push(spreads.length);
      spreads.push(null);
    }
    return choice;
  };
  let choice = choose();
  while (!choice.isOver) {
    const [draw = NaN] = underWay.splice(next(underWay.length), 1);
    spreads[draw] = good[draw] ?? false;
    choice = choose();
  }
  return [spreads.length, ...choice.keep];
}

test('whatever finishes first, the shortest run of draws with enough groups is made', () => {
  const games = fc.record({
    wanted: fc.integer({ min: 1, max: 8 }),
    good: fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }),
    luck: fc.infiniteStream(fc.nat()),
  });
  fc.assert(
    fc.property(games, ({ wanted, good, luck }) => {
      const [made, ...keep] = play(wanted, good, (underWay) => Number(luck.next().value) % underWay);
      const all = good.flatMap((isGood, draw) => (isGood ? [draw] : []));
      const last = all[wanted - 1];
      expect(keep).toEqual(all.slice(0, wanted));
      expect(made).toBe(last === undefined ? good.length : Math.max(last + 1, Math.min(wanted, good.length)));
    }),
  );
});

test('nothing is started that may turn out to be too much', () => {
  expect(chooseGroups({ wanted: 4, maxDraws: 9, spreads: [] })).toEqual({ keep: [], more: 4, isOver: false });
  expect(chooseGroups({ wanted: 4, maxDraws: 9, spreads: [null, false, true, null] })).toEqual({
    keep: [2],
    more: 1,
    isOver: false,
  });
  expect(chooseGroups({ wanted: 2, maxDraws: 3, spreads: [false, true, null] }).isOver).toBe(false);
  expect(chooseGroups({ wanted: 2, maxDraws: 3, spreads: [false, true, false] })).toEqual({
    keep: [1],
    more: 0,
    isOver: true,
  });
});

test.each([
  [[0, 0.5, 1], true],
  [[0.5, null, 1], true],
  [[0.5, 0.5, 0.5], false],
  [[null, null, 1], false],
  [[null], false],
  [[], false],
])('whether %j has a spread: %j', (rewards, expected) => {
  expect(hasSpread(rewards)).toBe(expected);
});
