import { type Drawing, PAPER, TEXT } from '../../cli/draw';
import type { MethodSummary, Summary } from '../summarize';
import { AXIS, boundsOf, colourOf, HEAD, intervals, page } from './picture-page';

/** Cost in USD a question; in tokens where no price is known, or nothing is paid. */
export function scoreAgainstCost(summary: Summary, methods: readonly MethodSummary[]): Drawing {
  const inUsd = methods.every(({ usd }) => usd !== null && usd > 0);
  const costs = methods.map(({ usd, tokens }) => (inUsd ? (usd ?? 0) : tokens));
  const most = 1.05 * Math.max(...costs);
  const scores = methods.map(({ score }) => score ?? 0);
  const lefts = costs.map((cost) => (cost / most) * PLOT.width);
  const shifts = shiftsOf(lefts);
  // To the right of all that stand beside each other.
  const beside = lefts.map((left, index) => {
    const group = shifts.filter((_, other) => Math.abs((lefts[other] ?? 0) - left) < SAME_PLACE);
    return Math.max(...group) - (shifts[index] ?? 0);
  });
  const labels = methods.map(({ method }, index) => ({
    left: (lefts[index] ?? 0) + (shifts[index] ?? 0) + (beside[index] ?? 0) + DISTANCE,
    top: (1 - (scores[index] ?? 0)) * PLOT.height,
    width: CHARACTER_WIDTH * method.length,
  }));
  const marks = labels.map(({ top }, index) => ({
    left: (lefts[index] ?? 0) + (shifts[index] ?? 0) - MARK / 2,
    top,
    width: MARK,
  }));
  const places = placeLabels(labels, marks);
  return {
    file: 'score-cost',
    height: HEAD + 16 + PLOT.height + 56,
    option: {
      ...page(summary, 'Score against cost', '95 % intervals'),
      grid: { left: 64, top: HEAD + 16, ...PLOT },
      xAxis: {
        type: 'value',
        name: `${inUsd ? 'USD' : 'tokens'} a question`,
        nameLocation: 'middle',
        nameGap: 30,
        min: 0,
        max: most,
        splitLine: { show: false },
        ...AXIS,
        axisLabel: { ...AXIS.axisLabel, showMaxLabel: false, formatter: inUsd ? dollars : short },
      },
      yAxis: { type: 'value', name: 'score', min: 0, max: 1, ...AXIS },
      series: [
        intervals(
          methods.map((method, index) => [costs[index] ?? 0, ...boundsOf(method), index, shifts[index] ?? 0]),
        ),
        {
          type: 'scatter',
          symbolSize: MARK,
          data: methods.map(({ method }, index) => ({
            value: [costs[index] ?? 0, scores[index] ?? 0],
            symbolOffset: [shifts[index] ?? 0, 0],
            itemStyle: { color: colourOf(index), opacity: 1 },
            label: {
              show: true,
              formatter: method,
              position: 'right',
              distance: DISTANCE,
              offset: [beside[index] ?? 0, places[index] ?? 0],
              color: TEXT,
              fontSize: 11,
              // Where it lies on another method's interval, that gives way.
              textBorderColor: PAPER,
              textBorderWidth: 3,
            },
          })),
        },
      ],
    },
  };
}

const PLOT = { width: 746, height: 344 } as const;

/** Of a method, and how far from it its label begins. In pixels. */
const MARK = 9;
const DISTANCE = 7;

const SAME_PLACE = 5;

/** Methods that cost the same stand beside each other, so that the intervals of all can be seen. In pixels. */
function shiftsOf(lefts: readonly number[]): number[] {
  const isNear = (one: number, other: number): boolean => Math.abs(one - other) < SAME_PLACE;
  return lefts.map((left, index) => 8 * lefts.slice(0, index).filter((other) => isNear(other, left)).length);
}

const LABEL_HEIGHT = 13;
const CHARACTER_WIDTH = 7;

interface Label {
  readonly left: number;
  readonly top: number;
  readonly width: number;
}

/** How far each label is moved down, so that none lies on another, or on a mark. In pixels. */
function placeLabels(labels: readonly Label[], marks: readonly Label[]): number[] {
  const taken: Label[] = [...marks];
  const moves: number[] = [];
  const order = labels.map((label, index) => ({ ...label, index }));
  for (const { index, ...label } of order.toSorted((one, other) => one.top - other.top)) {
    const isFree = (top: number): boolean => taken.every((other) => !overlap({ ...label, top }, other));
    let move = 0;
    while (!isFree(label.top + move)) move += 2;
    taken.push({ ...label, top: label.top + move });
    moves[index] = move;
  }
  return moves;
}

function overlap(one: Label, other: Label): boolean {
  const isBeside = one.left + one.width < other.left || other.left + other.width < one.left;
  return !isBeside && Math.abs(one.top - other.top) < LABEL_HEIGHT;
}

const short = (value: number): string =>
  new Intl.NumberFormat('en', { maximumSignificantDigits: 2, notation: 'compact' }).format(value);

const dollars = (value: number): string =>
  `$${new Intl.NumberFormat('en', { maximumSignificantDigits: 2, maximumFractionDigits: 9 }).format(value)}`;
