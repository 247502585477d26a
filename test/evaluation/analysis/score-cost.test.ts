import * as fc from 'fast-check';
import { drawSvg, PAGE_WIDTH } from '../../../src/cli/draw';
import { scoreAgainstCost } from '../../../src/evaluation/cli/score-cost';
import { summarize } from '../../../src/evaluation/summarize';

const summary = summarize({ id: 'e', file: 'f', questions: 0, methods: ['a'], workers: [], seed: 1 }, []);

/** Of a font of 11 pixels. */
const [HEIGHT, WIDTH] = [11, 6];

/** Where the renderer put the labels, in pixels of the page; `x` is the end that is next to the mark. */
async function labelsOf(methods: readonly (typeof summary.methods)[number][]) {
  const svg = await drawSvg(scoreAgainstCost(summary, methods));
  const texts = svg.matchAll(/text-anchor="(start|end)"[^>]*translate\(([\d.]+) ([\d.]+)\)[^>]*>(m\w+)</g);
  return [...texts].map(([, anchor, x, y, name = '']) => {
    const width = WIDTH * name.length;
    const left = anchor === 'start' ? Number(x) : Number(x) - width;
    return { name, left, right: left + width, y: Number(y) };
  });
}

const anyMethod = fc.record({
  score: fc.double({ min: 0, max: 1, noNaN: true }),
  usd: fc.integer({ min: 1, max: 40 }),
  letters: fc.integer({ min: 1, max: 24 }),
});

test('every method is named on the page, and no name lies on another', async () => {
  const anyMethods = fc.array(anyMethod, { minLength: 1, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(anyMethods, async (drawn) => {
      const methods = drawn.flatMap(({ score, usd, letters }) =>
        summary.methods.map((one) => ({
          ...one,
          method: `m${'x'.repeat(letters)}`,
          score,
          usd,
          interval: [score * 0.9, score] as const,
        })),
      );
      const labels = await labelsOf(methods);
      expect(labels).toHaveLength(methods.length);
      for (const [index, one] of labels.entries()) {
        expect(one.left).toBeGreaterThanOrEqual(0);
        expect(one.right).toBeLessThanOrEqual(PAGE_WIDTH);
        for (const other of labels.slice(0, index)) {
          const isBeside = one.right <= other.left || other.right <= one.left;
          if (!isBeside) expect(Math.abs(one.y - other.y)).toBeGreaterThanOrEqual(HEIGHT);
        }
      }
    }),
    { numRuns: 30 },
  );
});
