import type { CustomSeriesOption, CustomSeriesRenderItem, EChartsOption } from 'echarts' with { 'resolution-mode': 'import' };
import { type Drawing, FAINT, FONTS, GREY, headline, HUES, PAPER, TEXT } from '../../cli/draw';
import type { MethodSummary, Summary } from '../summarize';

/** The pictures of an evaluation: those for which there is something to be seen. */
export function picturesOf(summary: Summary): Drawing[] {
  const scored = summary.methods.filter(({ score }) => score !== null);
  const byDepth = scored.filter(({ method }) => /^conductor(?::\d)?$/.test(method));
  return [
    ...(scored.length > 0 ? [scoreAgainstCost(summary, scored)] : []),
    ...(scored.length > 0 ? [workerShares(summary, scored)] : []),
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

const AXIS = { axisLabel: { color: FAINT, fontSize: 11 }, nameTextStyle: { color: FAINT, fontSize: 11 } } as const;

/** Cost in USD a question; in tokens where no price is known, or nothing is paid. */
function scoreAgainstCost(summary: Summary, methods: readonly MethodSummary[]): Drawing {
  const inUsd = methods.every(({ usd }) => usd !== null && usd > 0);
  const costOf = ({ usd, tokens }: MethodSummary): number => (inUsd ? (usd ?? 0) : tokens);
  const name = inUsd ? 'USD a question (logarithmic)' : 'tokens a question (logarithmic)';
  const costs = methods.map(costOf);
  const placed = placeLabels(methods, costOf);
  return {
    file: 'score-cost',
    height: 480,
    option: {
      ...page(summary, 'Score against cost', '95 % intervals'),
      grid: { left: 64, right: 150, top: HEAD + 16, bottom: 56 },
      xAxis: {
        type: 'log',
        name,
        nameLocation: 'middle',
        nameGap: 30,
        min: Math.min(...costs) / 1.3,
        max: Math.max(...costs) * 1.3,
        splitLine: { show: false },
        ...AXIS,
        axisLabel: { ...AXIS.axisLabel, formatter: (value: number) => shortNumber(value, inUsd) },
      },
      yAxis: { type: 'value', name: 'score', min: 0, max: 1, ...AXIS },
      series: [
        intervals(methods.map((method, index) => [costOf(method), ...boundsOf(method), index])),
        {
          type: 'scatter',
          symbolSize: 9,
          data: methods.map((method, index) => ({
            value: [costOf(method), method.score ?? 0],
            itemStyle: { color: colourOf(index) },
            label: {
              show: true,
              formatter: method.method,
              position: 'right',
              distance: 7,
              offset: [0, placed[index] ?? 0],
              color: TEXT,
              fontSize: 11,
            },
          })),
        },
      ],
    },
  };
}

const LABEL_HEIGHT = 13;
const PLOT = { width: 746, height: 344 } as const;

/** How far each label is moved down, so that none lies on another: those of nearby points stand below each other. */
function placeLabels(methods: readonly MethodSummary[], costOf: (method: MethodSummary) => number): number[] {
  const logs = methods.map((method) => Math.log(costOf(method)));
  const width = Math.max(...logs) - Math.min(...logs) + 2 * Math.log(1.3);
  const points = methods.map(({ method, score }, index) => ({
    index,
    left: (((logs[index] ?? 0) - Math.min(...logs)) / width) * PLOT.width,
    length: 7 * method.length + 12,
    top: (1 - (score ?? 0)) * PLOT.height,
  }));
  const taken: { readonly left: number; readonly right: number; readonly top: number }[] = [];
  const offsets: number[] = [];
  for (const { index, left, length, top } of points.toSorted((one, other) => one.top - other.top)) {
    const right = left + length;
    const isTaken = (at: number): boolean =>
      taken.some((each) => Math.abs(each.top - at) < LABEL_HEIGHT && each.left < right && left < each.right);
    let at = top;
    while (isTaken(at)) at += 2;
    taken.push({ left, right, top: at });
    offsets[index] = at - top;
  }
  return offsets;
}

function workerShares(summary: Summary, methods: readonly MethodSummary[]): Drawing {
  return {
    file: 'worker-shares',
    height: HEAD + 56 + methods.length * ROW,
    option: {
      ...page(summary, 'Who answers', 'share of all answered steps, by worker'),
      grid: { left: 150, right: 150, top: HEAD + 8, bottom: 32 },
      legend: {
        right: EDGE,
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
        data: methods.map(({ method }) => method),
        axisTick: { show: false },
        axisLabel: { color: TEXT, fontSize: 11 },
      },
      series: summary.workers.map((worker, index) => ({
        type: 'bar',
        stack: 'workers',
        name: worker,
        barWidth: 14,
        color: colourOf(index),
        data: methods.map(({ workerShares: shares }) => shares[worker] ?? 0),
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
        intervals(depths.map((method, index) => [index, ...boundsOf(method), 0])),
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

type IntervalBar = readonly [x: number, low: number, high: number, colour: number];

/** Vertical bars with caps. */
function intervals(bars: readonly IntervalBar[]): CustomSeriesOption {
  const renderItem: CustomSeriesRenderItem = (_, api) => {
    const [x = 0, bottom = 0] = api.coord([api.value(0), api.value(1)]);
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

function shortNumber(value: number, isUsd: boolean): string {
  const text = new Intl.NumberFormat('en', { maximumSignificantDigits: 2, notation: 'compact' }).format(value);
  return isUsd ? `$${value < 0.001 ? value.toPrecision(1) : text}` : text;
}
