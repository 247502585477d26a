import { pairUp } from './pair-up';

const fits = (thing: string, partner: string): boolean => partner.includes(thing);

test('everything is paired where it can be, though the first choice would leave somebody alone', () => {
  // a takes ab first, and must move on to ac for b.
  expect(pairUp(['a', 'b'], ['ab', 'ac'], fits)).toEqual([]);
});

test('what finds no partner of its own is returned', () => {
  expect(pairUp(['a', 'b', 'c'], ['abc', 'ab'], fits)).toHaveLength(1);
  expect(pairUp(['a', 'x'], ['abc', 'ab'], fits)).toEqual(['x']);
  expect(pairUp([], ['a'], fits)).toEqual([]);
});
