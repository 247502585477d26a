import { intervalOf } from '../../specialists/report';

/** Results of one seed on a hundred questions, `right` of them answered right. */
const seedOf = (right: number): number[] =>
  Array.from({ length: 100 }, (_, index) => (index < right ? 1 : 0));

test('differences between seeds widen the confidence interval around their mean', () => {
  const [low, high] = intervalOf(Array.from({ length: 8 }, () => seedOf(70)));
  expect(low).toBeGreaterThan(0.65);
  expect(low).toBeLessThan(0.7);
  expect(high).toBeGreaterThan(0.7);
  expect(high).toBeLessThan(0.75);

  const [lower, higher] = intervalOf([50, 90, 50, 90, 50, 90, 50, 90].map(seedOf));
  expect(lower).toBeLessThan(low - 0.05);
  expect(higher).toBeGreaterThan(high + 0.05);
});
