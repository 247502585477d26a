import { holdsForRecursion, type Reviewed, tellRecursion } from '../plain/recursion';

/** Twenty questions with 10 answers each, 6 right; reviews mend and spoil that many answers of each question. */
function reviewed(mended: number, spoiled: number): Reviewed[] {
  return Array.from({ length: 200 }, (_, index) => {
    const place = index % 10;
    const wasRight = place < 6;
    return {
      question: Math.floor(index / 10),
      wasRight,
      isRight: wasRight ? place >= spoiled : place - 6 < mended,
      isSure: wasRight,
      isAccepted: wasRight,
      bestSpoils: 0.02,
    };
  });
}

test('the recursion claim holds if reviews gain, and spoil hardly more than the best reviewer', () => {
  expect(holdsForRecursion(reviewed(2, 0))).toBe(true);
  expect(tellRecursion(reviewed(2, 0))).toBe(
    'recursion: net gain 0.200 ± 0.000, right turned wrong 0.0 % (optimal reviewer 2.0 % ± 2.5)',
  );
});

test.each([
  ['nothing is gained', 0, 0],
  ['as much is spoiled as is mended', 2, 2],
  ['more is spoiled than need be', 3, 1],
])('the recursion claim does not hold if %s', (_, mended, spoiled) => {
  expect(holdsForRecursion(reviewed(mended, spoiled))).toBe(false);
});
