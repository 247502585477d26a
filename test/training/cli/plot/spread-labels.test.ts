import fc from 'fast-check';
import { spreadLabels } from '../../../../src/training/cli/plot/chart';

const GAP = 15;
const heights = fc.array(fc.double({ min: 0, max: 200, noNaN: true }), { minLength: 1, maxLength: 8 });
const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

test('labels that are far enough apart stay where they belong', () => {
  expect(spreadLabels([120, 20, 60], { gap: GAP, top: 0, bottom: 200 })).toEqual([120, 20, 60]);
});

test('labels that would overlap make room for each other to both sides', () => {
  expect(spreadLabels([100, 104], { gap: GAP, top: 0, bottom: 200 })).toEqual([94.5, 109.5]);
});

test('no two labels overlap, none leaves the panel, and each keeps its place in the order', () => {
  fc.assert(
    fc.property(heights, (wanted) => {
      const places = spreadLabels(wanted, { gap: GAP, top: 0, bottom: 200 });
      const down = sorted(places);
      for (const [index, place] of down.entries()) {
        if (index > 0) expect(place - (down[index - 1] ?? 0)).toBeGreaterThanOrEqual(GAP - 1e-9);
      }
      expect(down[0]).toBeGreaterThanOrEqual(-1e-9);
      expect(down.at(-1)).toBeLessThanOrEqual(200 + 1e-9);
      const order = wanted.map((_, index) => index).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
      expect(sorted(places)).toEqual(order.map((index) => places[index]));
    }),
  );
});
