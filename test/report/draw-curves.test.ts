import { curvesChart, type CurvesPage } from '../../src/report/curves-chart';
import { drawCharts } from '../../src/report/chart';
import { effortCurves, learningCurves, shareCurves } from '../../src/training/curves';
import type { CycleMetrics } from '../../src/training/definitions';
import { madeUpCycles } from './made-up-cycles';

async function drawSvg(page: CurvesPage): Promise<string> {
  const [picture] = await drawCharts([curvesChart(page)]);
  return picture?.svg ?? '';
}

const textsOf = (svg: string): string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text = '']) => text);

test('a chart of what was learned has a title, and labels every curve with its last value', async () => {
  const texts = textsOf(await drawSvg(learningCurves(madeUpCycles(40))));
  expect(texts).toEqual(
    expect.arrayContaining([
      'Training run made-up: what was learned',
      'cycles 1–40 · nights 2026-11-20 to 2026-11-21 (dotted: where one begins)',
      'Shape of plans',
      'held-out 0.919',
      'scholar 44%',
      'tree 31.6%',
    ]),
  );
});

test('the length of plans is drawn per topic if there are several, and apart for questions without one', () => {
  const law = { plans: 64, shapes: { '[[],[0]]': 48, '[[]]': 16 }, graded: 64, right: 50 };
  const none = { plans: 0, shapes: {}, graded: 4, right: 0 };
  const lengthsOf = (topics: CycleMetrics['topics']): unknown =>
    learningCurves(madeUpCycles(1, { planLength: 1.5, topics })).panels.find(
      ({ title }) => title === 'Length of plans',
    )?.curves;
  expect(lengthsOf({ law })).toEqual([{ name: 'all', values: [1.5] }]);
  expect(lengthsOf({ law, '': none })).toEqual([
    { name: 'all', values: [1.5] },
    { name: 'none named', values: [null] },
    { name: 'law', values: [1.75] },
  ]);
});

test('shares are stacked within their own panel only', () => {
  const { series = [] } = curvesChart(learningCurves(madeUpCycles(40))).option;
  const panelsOf = new Map<unknown, Set<unknown>>();
  for (const each of [series].flat()) {
    if (!('stack' in each) || !('xAxisIndex' in each)) continue;
    panelsOf.set(each.stack, (panelsOf.get(each.stack) ?? new Set()).add(each.xAxisIndex));
  }
  // One panel each: verdicts, format, workers, shapes and failures.
  expect([...panelsOf.values()].map(({ size }) => size)).toEqual([1, 1, 1, 1, 1]);
});

test('says what was never measured, and draws even a single cycle', async () => {
  const texts = textsOf(await drawSvg(effortCurves(madeUpCycles(3, { usd: null, update: null }))));
  // For cost, clipped share, KL and entropy.
  expect(texts.filter((text) => text === 'nothing measured yet')).toHaveLength(4);
  const picture = learningCurves(madeUpCycles(1));
  expect(picture.subtitle).toBe('cycle 1 · night of 2026-11-21');
  expect(textsOf(await drawSvg(picture))).toContain('Reward');
});

test('sorts shares by their size over all cycles, unless the names have an order of their own', () => {
  const curves = shareCurves([{ quick: 0.6, scholar: 0.4 }, { scholar: 1 }]);
  expect(curves).toEqual([
    { name: 'scholar', values: [0.4, 1] },
    { name: 'quick', values: [0.6, 0] },
  ]);
  const ordered = shareCurves([{ tree: 0.7, single: 0.3 }], ['single', 'chain', 'tree']);
  expect(ordered.map(({ name }) => name)).toEqual(['single', 'tree']);
});

test('sums up curves that could not be told apart', () => {
  const workers = Array.from({ length: 8 }, (_, index): [string, number] => [`w${index}`, (8 - index) / 36]);
  const curves = shareCurves([Object.fromEntries(workers)]);
  expect(curves.map(({ name }) => name)).toEqual(['w0', 'w1', 'w2', 'w3', 'w4', 'others']);
  expect(curves.at(-1)?.values[0]).toBeCloseTo(6 / 36);
});
