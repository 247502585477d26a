import type { CustomSeriesOption, CustomSeriesRenderItem, EChartsOption } from 'echarts' with {
  'resolution-mode': 'import',
};
import { TOPOLOGIES, TOPOLOGY_NAMES } from '../../plan/topology';
import { type Drawing, FAINT, FONTS, GREY, headline, HUES, PAGE_WIDTH, PAPER, TEXT } from '../../cli/draw';
import type { MethodSummary, Summary } from '../summarize';

/** The pictures of an evaluation: those for which there is something to be seen. */
export function picturesOf(summary: Summary): Drawing[] {
  const scored = summary.methods.filter(({ score }) => score !== null);
  const byDepth = scored.filter(({ method }) => /^conductor(?::\d)?$/.test(method));
  const planned = scored.filter(({ topologies }) => Object.keys(topologies).length > 0);
  return [
    ...(scored.length > 0 ? [scoreAgainstCost(summary, scored)] : []),
    ...(scored.length > 0 ? [workerShares(summary, scored)] : []),
    ...(planned.length > 0 ? [topologyShares(summary, planned)] : []),
    ...(byDepth.length > 1 ? [scoreByDepth(summary, byDepth)] : []),
  ];
}

const EDGE = 16;
const HEAD = 64;
const ROW = 26;

function page(summary: Summary, title: string, note: string): EChartsOption {
  const subtitle = `${note} · ${summary.file}, ${summary.complete} questions · evaluation ${summary.id}`;
  return {
    animation: false,
    backgroundColor: PAPER,
    textStyle: { fontFamily: FONTS, color: TEXT },
    title: [headline(title, subtitle, 16, { left: EDGE, top: EDGE })],
  };
}

const AXIS = {
  axisLabel: { color: FAINT, fontSize: 11 },
  nameTextStyle: { color: FAINT, fontSize: 11 },
} as const;

/** Cost in USD a question; in tokens where no price is known, or nothing is paid. */
function scoreAgainstCost(summary: Summary, methods: readonly MethodSummary[]): Drawing {
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
    left: (lefts[index] ?? 0) + (shifts[index] ?? 0) + (beside[index] ?? 0),
    top: (1 - (scores[index] ?? 0)) * PLOT.height,
    width: CHARACTER_WIDTH * method.length,
  }));
  const places = placeLabels(labels);
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
          symbolSize: 9,
          data: methods.map(({ method }, index) => ({
            value: [costs[index] ?? 0, scores[index] ?? 0],
            symbolOffset: [shifts[index] ?? 0, 0],
            itemStyle: { color: colourOf(index), opacity: 1 },
            label: {
              show: true,
              formatter: method,
              position: 'right',
              distance: 7,
              offset: [beside[index] ?? 0, places[index] ?? 0],
              color: TEXT,
              fontSize: 11,
            },
          })),
        },
      ],
    },
  };
}

const PLOT = { width: 746, height: 344 } as const;

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

/** How far each label is moved down, so that none lies on another. In pixels. */
function placeLabels(labels: readonly Label[]): number[] {
  const taken: Label[] = [];
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

function workerShares(summary: Summary, methods: readonly MethodSummary[]): Drawing {
  const rows = methods.map(({ method, workerShares: shares }) => ({ method, shares }));
  return drawShares('worker-shares', {
    parts: summary.workers.map((part, index) => ({ part, name: part, colour: colourOf(index) })),
    rows,
    option: page(summary, 'Who answers', 'share of all answered steps, by worker'),
  });
}

function topologyShares(summary: Summary, methods: readonly MethodSummary[]): Drawing {
  const rows = methods.map(({ method, topologies }) => {
    const plans = Object.values(topologies).reduce((sum, count) => sum + count, 0);
    const shares = Object.entries(topologies).map(([name, count]): [string, number] => [name, count / plans]);
    return { method, shares: Object.fromEntries(shares) };
  });
  const parts = TOPOLOGIES.map((part, index) => ({
    part,
    name: TOPOLOGY_NAMES[part],
    colour: HUES[index] ?? GREY,
  }));
  return drawShares('topology-shares', {
    parts: parts.filter(({ part }) => rows.some(({ shares }) => part in shares)),
    rows,
    option: page(summary, 'Shape of plans', 'share of all first plans, by their graph'),
  });
}

interface Shares {
  /** In the order in which they stand, each with its name in the legend and a colour of its own. */
  readonly parts: readonly { readonly part: string; readonly name: string; readonly colour: string }[];
  readonly rows: readonly { readonly method: string; readonly shares: Readonly<Record<string, number>> }[];
  readonly option: EChartsOption;
}

const SIDE = 190;

/** A bar for each method, which its parts fill. */
function drawShares(file: string, { parts, rows, option }: Shares): Drawing {
  return {
    file,
    height: HEAD + 56 + rows.length * ROW,
    option: {
      ...option,
      grid: { left: SIDE, right: SIDE, top: HEAD + 8, bottom: 32 },
      legend: {
        left: PAGE_WIDTH - SIDE + EDGE,
        top: HEAD + 8,
        orient: 'vertical',
        icon: 'roundRect',
        itemWidth: 8,
        itemHeight: 8,
        textStyle: { color: TEXT, fontSize: 11 },
      },
      xAxis: {
        type: 'value',
        min: 0,
        max: 1,
        ...AXIS,
        axisLabel: { ...AXIS.axisLabel, formatter: (value: number) => `${Math.round(100 * value)} %` },
      },
      yAxis: {
        type: 'category',
        inverse: true,
        data: rows.map(({ method }) => method),
        axisTick: { show: false },
        axisLabel: { color: TEXT, fontSize: 11 },
      },
      series: parts.map(({ part, name, colour }) => ({
        type: 'bar',
        stack: 'shares',
        name,
        barWidth: 14,
        color: colour,
        data: rows.map(({ shares }) => shares[part] ?? 0),
      })),
    },
  };
}

function scoreByDepth(summary: Summary, methods: readonly MethodSummary[]): Drawing {
  const depths = methods
    .map((method) => ({ ...method, depth: Number(method.method.split(':')[1] ?? 0) }))
    .sort((one, other) => one.depth - other.depth);
  return {
    file: 'score-depth',
    height: 360,
    option: {
      ...page(summary, 'Score by depth', 'how deep the Conductor may call itself; 95 % intervals'),
      grid: { left: 64, right: 64, top: HEAD + 16, bottom: 48 },
      xAxis: {
        type: 'category',
        name: 'depth',
        nameLocation: 'middle',
        nameGap: 28,
        data: depths.map(({ depth }) => String(depth)),
        ...AXIS,
      },
      yAxis: { type: 'value', name: 'score', min: 0, max: 1, ...AXIS },
      series: [
        intervals(depths.map((method, index) => [index, ...boundsOf(method), 0, 0])),
        {
          type: 'line',
          color: HUES[0],
          symbol: 'circle',
          symbolSize: 9,
          data: depths.map(({ score }) => score),
        },
      ],
    },
  };
}

type IntervalBar = readonly [x: number, low: number, high: number, colour: number, shift: number];

/** Vertical bars with caps. */
function intervals(bars: readonly IntervalBar[]): CustomSeriesOption {
  const renderItem: CustomSeriesRenderItem = (_, api) => {
    const [left = 0, bottom = 0] = api.coord([api.value(0), api.value(1)]);
    const x = left + Number(api.value(4));
    const [, top = 0] = api.coord([api.value(0), api.value(2)]);
    const style = { stroke: colourOf(Number(api.value(3))), lineWidth: 1.25, fill: 'none' };
    const line = (x1: number, y1: number, x2: number, y2: number) =>
      ({ type: 'line', shape: { x1, y1, x2, y2 }, style }) as const;
    return {
      type: 'group',
      children: [line(x, bottom, x, top), line(x - 4, bottom, x + 4, bottom), line(x - 4, top, x + 4, top)],
    };
  };
  return { type: 'custom', renderItem, data: bars.map((bar) => [...bar]), z: 1 };
}

function boundsOf({ interval, score }: MethodSummary): readonly [number, number] {
  const [low, high] = interval ?? [score ?? 0, score ?? 0];
  return [low, high];
}

function colourOf(index: number): string {
  return HUES[index % HUES.length] ?? GREY;
}

const short = (value: number): string =>
  new Intl.NumberFormat('en', { maximumSignificantDigits: 2, notation: 'compact' }).format(value);

const dollars = (value: number): string =>
  `$${new Intl.NumberFormat('en', { maximumSignificantDigits: 2, maximumFractionDigits: 9 }).format(value)}`;
