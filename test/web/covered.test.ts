import { coveredMs } from '../../web/src/solve/covered';

test('spans at the same time count once, in any order', () => {
  expect(coveredMs([])).toBe(0);
  expect(
    coveredMs([
      [6, 10],
      [2, 4],
    ]),
  ).toBe(6);
  expect(
    coveredMs([
      [4, 10],
      [2, 8],
      [5, 6],
    ]),
  ).toBe(8);
});

test('a span that ends before it starts counts nothing', () => {
  expect(coveredMs([[5, 2]])).toBe(0);
});
