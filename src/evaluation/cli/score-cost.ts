import { type Drawing, PAGE_WIDTH, PAPER, TEXT } from '../../cli/draw';
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
  const places = placeLabels(
    methods.map((method, index) => {
      const [low, high] = boundsOf(method);
      return {
        left: (lefts[index] ?? 0) + (shifts[index] ?? 0),
        top: topOf(scores[index] ?? 0),
        interval: [topOf(high), topOf(low)],
        labelWidth: CHARACTER_WIDTH * method.method.length,
      };
    }),
  );
  return {
    file: 'score-cost',
    height: HEAD + 16 + PLOT.height + 56,
    option: {
      ...page(summary, 'Score against cost', '95 % intervals'),
      grid: { left: LEFT_EDGE, top: HEAD + 16, ...PLOT },
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
              position: places[index]?.side ?? 'right',
              distance: DISTANCE,
              offset: [0, places[index]?.move ?? 0],
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

const LEFT_EDGE = 64;
const PLOT = { width: 746, height: 344 } as const;

/** Of a method, and how far from it its label begins. In pixels. */
const MARK = 9;
const DISTANCE = 7;
/** From the middle of a mark to its label. */
const GAP = MARK / 2 + DISTANCE;

const SAME_PLACE = 5;

/** Methods that cost the same stand beside each other, so that the intervals of all can be seen. In pixels. */
function shiftsOf(lefts: readonly number[]): number[] {
  const isNear = (one: number, other: number): boolean => Math.abs(one - other) < SAME_PLACE;
  return lefts.map((left, index) => 8 * lefts.slice(0, index).filter((other) => isNear(other, left)).length);
}

const LABEL_HEIGHT = 13;
const CHARACTER_WIDTH = 7;

/** A method in the plot, in pixels from its upper left corner. */
interface Mark {
  readonly left: number;
  readonly top: number;
  /** Its upper and its lower end. */
  readonly interval: readonly [number, number];
  readonly labelWidth: number;
}

/** Where a label stands: beside its mark, moved down by so many pixels. */
interface Place {
  readonly side: 'right' | 'left';
  readonly move: number;
}

/** The room that something takes; of a label and of a mark, `top` is its middle. */
interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
}

/** What it costs a label to lie on an interval, in pixels that it is moved instead. */
const CROSSING = 4;
/** Of two places that are as good, the right one. */
const LEFT_SIDE = 1;

/** Beside its mark, each; on no other label and nearer to no other mark; moved little, and on few intervals. */
function placeLabels(marks: readonly Mark[]): Place[] {
  const labels: Box[] = [];
  return marks.map((mark) => {
    const taken = [...marks.filter((other) => other !== mark).map(surroundings), ...labels];
    const isFree = (place: Place): boolean => {
      const box = boxOf(mark, place);
      return isOnPage(box) && !taken.some((other) => overlap(box, other));
    };
    const costOf = (place: Place): number => {
      const crossed = marks.filter((other) => crosses(boxOf(mark, place), other)).length;
      return Math.abs(place.move) + CROSSING * crossed + (place.side === 'left' ? LEFT_SIDE : 0);
    };
    const free = placesOf(mark).filter(isFree);
    // Where there is no room at all, as for a name longer than the page.
    const [place = { side: 'right', move: 0 }] = free.toSorted((one, other) => costOf(one) - costOf(other));
    labels.push(boxOf(mark, place));
    return place;
  });
}

/** A mark, and as much beside it as its own label leaves free. */
function surroundings({ left, top }: Mark): Box {
  return { left: left - GAP, right: left + GAP, top };
}

/** All that leave the label inside the plot's height. */
function placesOf({ top }: Mark): Place[] {
  const moves = Array.from({ length: PLOT.height / 2 }, (_, index) => 2 * index - 2 * Math.floor(top / 2));
  return moves.flatMap((move): Place[] => [
    { side: 'right', move },
    { side: 'left', move },
  ]);
}

function boxOf({ left, top, labelWidth }: Mark, { side, move }: Place): Box {
  const start = side === 'right' ? left + GAP : left - GAP - labelWidth;
  return { left: start, right: start + labelWidth, top: top + move };
}

function isOnPage({ left, right }: Box): boolean {
  return left >= 0 && right <= PAGE_WIDTH - LEFT_EDGE;
}

function overlap(one: Box, other: Box): boolean {
  const isBeside = one.right < other.left || other.right < one.left;
  return !isBeside && Math.abs(one.top - other.top) < LABEL_HEIGHT;
}

function crosses({ left, right, top }: Box, { left: at, interval: [high, low] }: Mark): boolean {
  return left <= at && at <= right && high - LABEL_HEIGHT / 2 < top && top < low + LABEL_HEIGHT / 2;
}

const topOf = (score: number): number => (1 - score) * PLOT.height;

const short = (value: number): string =>
  new Intl.NumberFormat('en', { maximumSignificantDigits: 2, notation: 'compact' }).format(value);

const dollars = (value: number): string =>
  `$${new Intl.NumberFormat('en', { maximumSignificantDigits: 2, maximumFractionDigits: 9 }).format(value)}`;
