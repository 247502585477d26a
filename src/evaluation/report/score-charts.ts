import type { MarkLineComponentOption } from 'echarts' with { 'resolution-mode': 'import' };
import { TOPOLOGIES, TOPOLOGY_NAMES } from '../../plan/topology';
import { oneLine } from '../../trace/lines';
import { type Interval, sharesOf } from '../statistics';
import type { MethodSummary, Summary } from '../summarize';
import {
  AXIS,
  type Chart,
  colourOf,
  dollars,
  EDGE,
  HEAD,
  type Heading,
  HUES,
  keyed,
  legend,
  page,
  PAGE_WIDTH,
  percent,
  plain,
  TEXT,
} from './page';

/** The charts of an evaluation for which there are data. */
export function chartsOf({ methods, workers, ...summary }: Summary): Chart[] {
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
    scoreCostChart(headed('Score against cost', '95 % intervals'), scored),
    sharesChart('worker-shares', who, names, answered),
  ];
  if (planned.length > 0) {
    const parts = shapes.map((shape) => [shape, TOPOLOGY_NAMES[shape]] as const);
    const heading = headed('Shape of plans', 'share of all first plans, by graph');
    charts.push(sharesChart('topology-shares', heading, parts, planned));
  }
  if (byDepth.length > 1) {
    const note = 'how deep the Conductor may call itself; 95 % intervals';
    charts.push(scoreDepthChart(headed('Score by depth', note), byDepth));
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

/** Columns of text in a label beside a plot. */
const LABEL = 28;
const LABEL_WIDTH = 190;
const SCORE_AXIS = { type: 'value', name: 'score', min: 0, max: 1, ...AXIS } as const;

function errorBars(
  points: readonly { readonly x: number; readonly interval: Interval; readonly colour: string }[],
): MarkLineComponentOption {
  return {
    silent: true,
    z: 1,
    symbol: 'rect',
    symbolSize: [8, 1.25],
    label: { show: false },
    data: points.map(({ x, interval: [low, high], colour: color }) => [
      { coord: [x, low], lineStyle: { color, width: 1.25, type: 'solid' } },
      { coord: [x, high] },
    ]),
  };
}

const PLOT_WIDTH = PAGE_WIDTH - 64 - LABEL_WIDTH;
/** In pixels: points that are nearer to each other stand so far apart. */
const [NEAR, APART] = [5, 8];

/** A point with its interval for each method. Cost is in USD, or in tokens if a price is unknown or nothing is paid. */
export function scoreCostChart(heading: Heading, methods: readonly Scored[]): Chart {
  const inUsd = methods.every(({ usd }) => usd !== null && usd > 0);
  const costs = methods.map(({ usd, tokens }) => (inUsd ? (usd ?? 0) : tokens));
  const pixel = (1.05 * Math.max(...costs) || 1) / PLOT_WIDTH;
  // Methods of equal cost stand beside each other, so that every interval can be seen.
  const points = methods.map(({ score, interval }, index) => {
    const cost = costs[index] ?? 0;
    const near = costs.slice(0, index).filter((other) => Math.abs(cost - other) < NEAR * pixel);
    return { x: cost + near.length * APART * pixel, score, interval, colour: colourOf(index) };
  });
  const height = Math.max(344, 16 * methods.length);
  return {
    file: 'score-cost',
    height: HEAD + height + 68,
    option: {
      ...page(heading),
      grid: { left: 64, top: HEAD + 12, width: PLOT_WIDTH, height },
      xAxis: {
        type: 'value',
        name: `${inUsd ? 'USD' : 'tokens'} per question`,
        nameLocation: 'middle',
        nameGap: 30,
        min: 0,
        max: 1.05 * Math.max(...points.map(({ x }) => x)) || 1,
        splitLine: { show: false },
        ...AXIS,
        axisLabel: { ...AXIS.axisLabel, showMaxLabel: false, formatter: inUsd ? dollars : plain },
      },
      yAxis: SCORE_AXIS,
      series: [
        {
          type: 'scatter',
          silent: true,
          symbolSize: 9,
          markLine: errorBars(points),
          data: points.map(({ x, score, colour }) => ({
            value: [x, score],
            itemStyle: { color: colour, opacity: 1 },
            labelLine: { lineStyle: { color: colour, opacity: 0.4 } },
          })),
          label: {
            show: true,
            position: 'right',
            color: TEXT,
            fontSize: 11,
            lineHeight: 15,
            formatter: ({ dataIndex }) => oneLine(methods[dataIndex]?.method ?? '', LABEL),
          },
          labelLine: { show: true, length2: 6 },
          labelLayout: { x: PAGE_WIDTH - LABEL_WIDTH + 8, moveOverlap: 'shiftY' },
        },
      ],
    },
  };
}

/** A score with its interval for each depth, e.g. of `conductor:1`. */
function scoreDepthChart(heading: Heading, methods: readonly Scored[]): Chart {
  const depthOf = ({ method }: Scored): string => method.split(':')[1] ?? '0';
  const points = methods.toSorted((one, other) => Number(depthOf(one)) - Number(depthOf(other)));
  return {
    file: 'score-depth',
    height: 360,
    option: {
      ...page(heading),
      grid: { left: 64, right: 64, top: HEAD + 12, bottom: 48 },
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

/** A bar for each method, filled by its shares. @param parts keys of the shares and their names, as the legend has them */
export function sharesChart(
  file: string,
  heading: Heading,
  parts: readonly (readonly [key: string, name: string])[],
  rows: readonly { readonly method: string; readonly shares: Readonly<Record<string, number>> }[],
): Chart {
  return {
    file,
    height: HEAD + 48 + Math.max(rows.length * ROW, parts.length * 18),
    option: {
      ...page(heading),
      grid: { left: LABEL_WIDTH, right: LABEL_WIDTH, top: HEAD, bottom: 32 },
      legend: legend(PAGE_WIDTH - LABEL_WIDTH + EDGE, HEAD),
      xAxis: { type: 'value', min: 0, max: 1, ...AXIS, axisLabel: { ...AXIS.axisLabel, formatter: percent } },
      yAxis: {
        type: 'category',
        inverse: true,
        data: rows.map(({ method }) => oneLine(method, LABEL)),
        axisTick: { show: false },
        axisLabel: { color: TEXT, fontSize: 11, interval: 0 },
      },
      series: parts.map(([key, name], index) => ({
        type: 'bar',
        silent: true,
        stack: 'shares',
        name: keyed(index, oneLine(name, LABEL - 2)),
        barWidth: 14,
        color: colourOf(index),
        data: rows.map(({ shares }) => shares[key] ?? 0),
      })),
    },
  };
}
