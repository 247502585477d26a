import { shareCurves } from '../../../../src/training/cli/plot';

test('the largest share of all cycles comes first, and who was not asked in a cycle had nothing', () => {
  const curves = shareCurves([{ quick: 0.6, scholar: 0.4 }, { scholar: 1 }]);
  expect(curves.map(({ name, values }) => [name, values])).toEqual([
    ['scholar', [0.4, 1]],
    ['quick', [0.6, 0]],
  ]);
});

test('names in an order of their own come first, those that never were are left out', () => {
  const curves = shareCurves([{ tree: 0.7, single: 0.3 }], ['single', 'chain', 'tree']);
  expect(curves.map(({ name }) => name)).toEqual(['single', 'tree']);
});

test('what cannot be told apart any more is summed up', () => {
  const workers = Array.from({ length: 8 }, (_, index): [string, number] => [`w${index}`, (8 - index) / 36]);
  const curves = shareCurves([Object.fromEntries(workers)]);
  expect(curves.map(({ name }) => name)).toEqual(['w0', 'w1', 'w2', 'w3', 'w4', 'others']);
  expect(curves.at(-1)?.values[0]).toBeCloseTo(6 / 36);
});
