import * as fc from 'fast-check';
import { drawSvg, PAGE_WIDTH } from '../../../src/cli/draw';
import { scoreAgainstCost } from '../../../src/evaluation/cli/score-cost';
import { summarize } from '../../../src/evaluation/summarize';

/** Of a font of 11 pixels. */
const [HEIGHT, WIDTH] = [11, 6];

interface Drawn {
  readonly method: string;
  readonly score: number;
  readonly usd: number;
  readonly interval: readonly [number, number];
}

/** Where the renderer put the labels, in pixels of the page. */
async function labelsOf(drawn: readonly Drawn[]) {
  const names = drawn.map(({ method }) => method);
  const summary = summarize({ id: 'e', file: 'f', questions: 0, methods: names, workers: [], seed: 1 }, []);
  const methods = summary.methods.map((blank, index) => ({ ...blank, ...drawn[index] }));
  const svg = await drawSvg(scoreAgainstCost(summary, methods));
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
    usd: fc.integer({ min: 1, max: 40 }),
    letters: fc.integer({ min: 1, max: 24 }),
  })
  .map(({ score, usd, letters }): Drawn => {
    return { method: `m${'x'.repeat(letters)}`, score, usd, interval: [score * 0.9, score] };
  });

test('every method is named on the page, and no name lies on another', async () => {
  const anyMethods = fc.array(anyMethod, { minLength: 1, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(anyMethods, async (drawn) => {
      const labels = await labelsOf(drawn);
      expect(labels).toHaveLength(drawn.length);
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
