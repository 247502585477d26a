import type { MarkLineComponentOption } from 'echarts' with { 'resolution-mode': 'import' };
import { TOPOLOGIES, TOPOLOGY_NAMES } from '../../plan/topology';
import { oneLine, widthOf } from '../../trace/lines';
import { type Interval } from '../../statistics/statistics';
import { sharesOf } from '../../statistics/tally';
import type { MethodSummary, Summary } from '../summarize';
import {
  AXIS,
  type Chart,
  colourOf,
  dollars,
  EDGE,
  FAINT,
  GREY,
  type Heading,
  headOf,
  HUES,
  keyed,
  legend,
  NARROW,
  page,
  percent,
  plain,
  REPORT,
  type Sheet,
  TEXT,
} from '../../report/chart';
import { placeLabels } from './point-labels';

/** Returns the charts of an evaluation for which there are data. */
export function chartsOf({ methods, workers, ...summary }: Summary, sheet: Sheet = REPORT): Chart[] {
  const headed = (title: string, note: string): Heading => ({
    title,
    subtitle: `${note} · ${summary.complete} questions · evaluation ${summary.id} · ${summary.file}`,
  });
  const scored = methods.filter(isScored);
  if (scored.length === 0) return [];
  const byDepth = scored.filter(({ method }) => /^conductor(?::\d)?$/.test(method));
  const planned = scored
    .filter(({ topologies }) => Object.keys(topologies).length > 0)
    .map(({ method, topologies }) => ({ method, shares: sharesOf(topologies) }));
  const shapes = TOPOLOGIES.filter((shape) => planned.some(({ shares }) => shape in shares));
  const answered = scored.map(({ method, workerShares: shares }) => ({ method, shares }));
  const names = workers.map((worker) => [worker, worker] as const);
  const who = headed('Who answers', 'share of all answered steps, by worker');
  const charts = [
    scoreCostChart(
      headed('Score against cost', '95 % intervals; dashed: the best score for its cost'),
      scored,
      sheet,
    ),
    sharesChart('worker-shares', who, names, answered, sheet),
  ];
  if (planned.length > 0) {
    const parts = shapes.map((shape) => [shape, TOPOLOGY_NAMES[shape]] as const);
    const heading = headed('Shape of plans', 'share of all first plans, by graph');
    charts.push(sharesChart('topology-shares', heading, parts, planned, sheet));
  }
  if (byDepth.length > 1) {
    const note = 'how deep the Conductor may call itself; 95 % intervals';
    charts.push(scoreDepthChart(headed('Score by depth', note), byDepth, sheet));
  }
  return charts;
}

export interface Scored extends Pick<MethodSummary, 'method' | 'usd' | 'tokens'> {
  readonly score: number;
  readonly interval: Interval;
}

function isScored(method: MethodSummary): method is MethodSummary & Scored {
  return method.score !== null && method.interval !== null;
}

/** Returns the width of labels beside a plot, in columns of text and in pixels. */
function labelOn({ width }: Sheet): { readonly columns: number; readonly pixels: number } {
  return width < NARROW ? { columns: 15, pixels: 112 } : { columns: 28, pixels: 190 };
}

const SCORE_AXIS = { type: 'value', name: 'score', min: 0, max: 1, ...AXIS } as const;

function errorBars(
  points: readonly {
    readonly x: number;
    readonly interval: Interval;
    readonly colour: string;
    readonly opacity?: number;
  }[],
): MarkLineComponentOption {
  return {
    silent: true,
    z: 1,
    symbol: 'rect',
    symbolSize: [8, 1.25],
    label: { show: false },
    data: points.map(({ x, interval: [low, high], colour: color, opacity = 1 }) => [
      { coord: [x, low], lineStyle: { color, width: 1.25, type: 'solid', opacity } },
      { coord: [x, high] },
    ]),
  };
}

/** Distances in pixels: points nearer than `NEAR` are drawn `APART` from each other. */
const [NEAR, APART] = [5, 8];

const LEFT = 64;
/** Width of a column of text in the font of the names. */
const COLUMN = 6.5;
/** Opacity of what another method surpasses at no higher cost. */
const PALE = 0.45;

/**
 * Draws a point and its interval for each method, with its name, and the front: the best score for its cost. Cost is in
 * USD, or in tokens if a price is unknown or zero.
 */
export function scoreCostChart(heading: Heading, methods: readonly Scored[], sheet: Sheet = REPORT): Chart {
  const { columns } = labelOn(sheet);
  const top = headOf(sheet) + 12;
  const width = sheet.width - LEFT - EDGE;
  const height = Math.max(344, 16 * methods.length);
  const inUsd = methods.every(({ usd }) => usd !== null && usd > 0);
  const costs = methods.map(({ usd, tokens }) => (inUsd ? (usd ?? 0) : tokens));
  const pixel = (1.05 * Math.max(...costs) || 1) / width;
  // Methods of equal cost are drawn side by side, so that every interval is visible.
  const xs = costs.map((cost, index) => {
    const near = costs.slice(0, index).filter((other) => Math.abs(cost - other) < NEAR * pixel);
    return cost + near.length * APART * pixel;
  });
  const most = 1.05 * Math.max(...xs) || 1;
  const best = frontOf(methods.map(({ score }, index) => ({ x: xs[index] ?? 0, score })));
  const names = methods.map(({ method }) => oneLine(method, columns));
  const xOf = (cost: number): number => LEFT + (cost / most) * width;
  const yOf = (score: number): number => top + (1 - score) * height;
  const intervals = methods.map(({ interval: [low, high] }, index) => {
    const x = xOf(xs[index] ?? 0);
    return { left: x - 4, right: x + 4, top: yOf(high), bottom: yOf(low) };
  });
  const steps = best.flatMap(({ x, score }, rank) => {
    const [from, to, y] = [xOf(x), xOf(best[rank + 1]?.x ?? most), yOf(score)];
    const next = yOf(best[rank + 1]?.score ?? score);
    const across = { left: from, right: to, top: y - 1, bottom: y + 1 };
    return [across, { left: to - 1, right: to + 1, top: next, bottom: y }];
  });
  const places = placeLabels(
    methods.map(({ score }, index) => {
      return { x: xOf(xs[index] ?? 0), y: yOf(score), width: COLUMN * widthOf(names[index] ?? '') + 2 };
    }),
    {
      area: { left: LEFT, right: sheet.width, top, bottom: top + height },
      lines: [...intervals, ...steps],
    },
  );
  const points = methods.map(({ score, interval }, index) => {
    const isBest = best.some(({ at }) => at === index);
    return {
      x: xs[index] ?? 0,
      score,
      interval,
      colour: colourOf(index),
      opacity: isBest ? 1 : PALE,
      isBest,
    };
  });
  return {
    file: 'score-cost',
    ...heading,
    height: top + height + 56,
    option: {
      ...page(heading, sheet),
      grid: { left: LEFT, top, width, height },
      xAxis: {
        type: 'value',
        name: `${inUsd ? 'USD' : 'tokens'} per question`,
        nameLocation: 'middle',
        nameGap: 30,
        min: 0,
        max: most,
        splitLine: { show: false },
        ...AXIS,
        axisLabel: {
          ...AXIS.axisLabel,
          showMaxLabel: false,
          hideOverlap: true,
          formatter: inUsd ? dollars : plain,
        },
      },
      yAxis: SCORE_AXIS,
      series: [
        {
          type: 'line',
          silent: true,
          step: 'end',
          symbol: 'none',
          z: 0,
          lineStyle: { color: GREY, width: 1.25, type: 'dashed' },
          data: [...best.map(({ x, score }) => [x, score]), [most, best.at(-1)?.score ?? 0]],
        },
        {
          type: 'scatter',
          silent: true,
          symbolSize: 9,
          markLine: errorBars(points),
          data: points.map(({ x, score, colour, opacity, isBest }, index) => ({
            value: [x, score],
            itemStyle: { color: colour, opacity },
            label: { opacity: 1, color: isBest ? TEXT : FAINT, fontWeight: isBest ? 600 : 'normal' },
            labelLine: { show: places[index]?.isMoved === true, lineStyle: { color: colour, opacity: 0.5 } },
          })),
          label: {
            show: true,
            position: 'right',
            fontSize: 11,
            lineHeight: 13,
            formatter: ({ dataIndex }) => names[dataIndex] ?? '',
          },
          labelLine: { show: true, length2: 4 },
          labelLayout: ({ dataIndex }) => {
            const { x, y, align } = places[dataIndex ?? 0] ?? { x: 0, y: 0, align: 'left' };
            return { x, y, align, verticalAlign: 'middle' };
          },
        },
      ],
    },
  };
}

/** Returns the points that none surpasses at the same or a lower cost, from cheap to dear, with their place in the list. */
function frontOf(points: readonly { readonly x: number; readonly score: number }[]) {
  const ranked = points
    .map((point, at) => ({ ...point, at }))
    .sort((one, other) => one.x - other.x || other.score - one.score);
  return ranked.filter(({ score }, rank) => ranked.slice(0, rank).every((cheaper) => cheaper.score < score));
}

/** Draws a score and its interval for each depth, e.g. of `conductor:1`. */
function scoreDepthChart(heading: Heading, methods: readonly Scored[], sheet: Sheet): Chart {
  const depthOf = ({ method }: Scored): string => method.split(':')[1] ?? '0';
  const points = methods.toSorted((one, other) => Number(depthOf(one)) - Number(depthOf(other)));
  return {
    file: 'score-depth',
    ...heading,
    height: headOf(sheet) + 288,
    option: {
      ...page(heading, sheet),
      grid: { left: 64, right: 64, top: headOf(sheet) + 12, bottom: 48 },
      xAxis: {
        type: 'category',
        name: 'depth',
        nameLocation: 'middle',
        nameGap: 28,
        data: points.map(depthOf),
        ...AXIS,
      },
      yAxis: SCORE_AXIS,
      series: [
        {
          type: 'line',
          silent: true,
          markLine: errorBars(points.map(({ interval }, x) => ({ x, interval, colour: HUES[0] }))),
          color: HUES[0],
          symbol: 'circle',
          symbolSize: 9,
          data: points.map(({ score }) => score),
        },
      ],
    },
  };
}

const ROW = 26;

/** Draws a bar of shares for each method. @param parts keys of the shares, and their names in the legend */
export function sharesChart(
  file: string,
  heading: Heading,
  parts: readonly (readonly [key: string, name: string])[],
  rows: readonly { readonly method: string; readonly shares: Readonly<Record<string, number>> }[],
  sheet: Sheet = REPORT,
): Chart {
  const [head, label] = [headOf(sheet), labelOn(sheet)];
  return {
    file,
    ...heading,
    height: head + 48 + Math.max(rows.length * ROW, parts.length * 18),
    option: {
      ...page(heading, sheet),
      grid: { left: label.pixels, right: label.pixels, top: head, bottom: 32 },
      legend: legend(sheet.width - label.pixels + EDGE, head),
      xAxis: {
        type: 'value',
        min: 0,
        max: 1,
        ...AXIS,
        axisLabel: { ...AXIS.axisLabel, hideOverlap: true, formatter: percent },
      },
      yAxis: {
        type: 'category',
        inverse: true,
        data: rows.map(({ method }) => oneLine(method, label.columns)),
        axisTick: { show: false },
        axisLabel: { color: TEXT, fontSize: 11, interval: 0 },
      },
      series: parts.map(([key, name], index) => ({
        type: 'bar',
        silent: true,
        stack: 'shares',
        name: keyed(index, oneLine(name, label.columns - 2)),
        barWidth: 14,
        color: colourOf(index),
        data: rows.map(({ shares }) => shares[key] ?? 0),
      })),
    },
  };
}
