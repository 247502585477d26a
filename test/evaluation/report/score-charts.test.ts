import * as fc from 'fast-check';
import { drawCharts, REPORT } from '../../../src/report/chart';
import { scoreCostChart, type Scored } from '../../../src/evaluation/report/score-charts';

/** Height and width of a letter in a font of 11 pixels. */
const [HEIGHT, WIDTH] = [11, 6];

/** Returns the places where the renderer put the labels, in pixels of the page. */
async function labelsOf(points: readonly Scored[]) {
  const heading = { title: 'Score', subtitle: '' };
  const [picture] = await drawCharts([scoreCostChart(heading, points)]);
  const { svg = '' } = picture ?? {};
  const texts = svg.matchAll(/text-anchor="(start|end)"[^>]*translate\(([\d.]+) ([\d.]+)\)[^>]*>(m\w+)</g);
  return [...texts].map(([, anchor, x, y, name = '']) => {
    const width = WIDTH * name.length;
    const left = anchor === 'start' ? Number(x) : Number(x) - width;
    return { name, left, right: left + width, y: Number(y) };
  });
}

const anyMethod = fc
  .record({
    score: fc.double({ min: 0, max: 1, noNaN: true }),
    cost: fc.integer({ min: 1, max: 40 }),
    letters: fc.integer({ min: 1, max: 24 }),
  })
  .map(({ score, cost, letters }): Scored => {
    return { method: `m${'x'.repeat(letters)}`, score, usd: cost, tokens: 0, interval: [score * 0.9, score] };
  });

test('every method is labelled on the page, and no label overlaps another', async () => {
  const anyMethods = fc.array(anyMethod, { minLength: 1, maxLength: 24 });
  await fc.assert(
    fc.asyncProperty(anyMethods, async (drawn) => {
      const labels = await labelsOf(drawn);
      expect(labels).toHaveLength(drawn.length);
      for (const [index, one] of labels.entries()) {
        expect(one.left).toBeGreaterThanOrEqual(0);
        expect(one.right).toBeLessThanOrEqual(REPORT.width);
        for (const other of labels.slice(0, index)) {
          const isBeside = one.right <= other.left || other.right <= one.left;
          if (!isBeside) expect(Math.abs(one.y - other.y)).toBeGreaterThanOrEqual(HEIGHT);
        }
      }
    }),
    { numRuns: 30 },
  );
});
