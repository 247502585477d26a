import type { CustomSeriesOption } from 'echarts' with { 'resolution-mode': 'import' };
import { oneLine } from '../../trace/lines';
import type { Interval } from '../statistics';
import { percent } from './formats';
import {
  AXIS,
  type Chart,
  colourOf,
  EDGE,
  GREY,
  HEAD,
  type Heading,
  HUES,
  keyed,
  legend,
  page,
  PAGE_WIDTH,
  TEXT,
} from './page';

/** Columns of text in a label beside a plot. */
const LABEL = 28;
const LABEL_WIDTH = 190;
const SCORE_AXIS = { type: 'value', name: 'score', min: 0, max: 1, ...AXIS } as const;

interface Bar {
  readonly x: number;
  readonly interval: Interval;
  readonly colour: string;
  /** To the right, in pixels. */
  readonly shift?: number;
}

/** Vertical error bars with caps. */
function errorBars(bars: readonly Bar[]): CustomSeriesOption {
  return {
    type: 'custom',
    silent: true,
    z: 1,
    data: bars.map(({ x, interval }) => [x, ...interval]),
    renderItem: ({ dataIndex }, api) => {
      const { colour, shift = 0 } = bars[dataIndex] ?? { colour: GREY };
      const [left = 0, bottom = 0] = api.coord([api.value(0), api.value(1)]);
      const [, top = 0] = api.coord([api.value(0), api.value(2)]);
      const x = left + shift;
      const style = { stroke: colour, lineWidth: 1.25, fill: 'none' };
      const line = (x1: number, y1: number, x2: number, y2: number) =>
        ({ type: 'line', shape: { x1, y1, x2, y2 }, style }) as const;
      return {
        type: 'group',
        children: [line(x, bottom, x, top), line(x - 4, bottom, x + 4, bottom), line(x - 4, top, x + 4, top)],
      };
    },
  };
}

export interface ScoredPoint {
  readonly name: string;
  readonly cost: number;
  readonly score: number;
  readonly interval: Interval;
}

const PLOT_WIDTH = PAGE_WIDTH - 64 - LABEL_WIDTH;
const NEAR = 5;

/** A point with its interval for each method, named on the right. */
export function scoreCostChart(
  heading: Heading,
  points: readonly ScoredPoint[],
  cost: { readonly name: string; readonly format: (value: number) => string },
): Chart {
  const most = 1.05 * Math.max(...points.map((point) => point.cost)) || 1;
  const lefts = points.map((point) => (point.cost / most) * PLOT_WIDTH);
  // Methods of equal cost stand beside each other, so that every interval can be seen.
  const shifts = lefts.map(
    (left, index) => 8 * lefts.slice(0, index).filter((other) => Math.abs(left - other) < NEAR).length,
  );
  const height = Math.max(344, 16 * points.length);
  return {
    file: 'score-cost',
    height: HEAD + height + 68,
    option: {
      ...page(heading),
      grid: { left: 64, top: HEAD + 12, width: PLOT_WIDTH, height },
      xAxis: {
        type: 'value',
        name: cost.name,
        nameLocation: 'middle',
        nameGap: 30,
        min: 0,
        max: most,
        splitLine: { show: false },
        ...AXIS,
        axisLabel: { ...AXIS.axisLabel, showMaxLabel: false, formatter: cost.format },
      },
      yAxis: SCORE_AXIS,
      series: [
        errorBars(
          points.map(({ cost: x, interval }, index) => ({
            x,
            interval,
            colour: colourOf(index),
            shift: shifts[index],
          })),
        ),
        {
          type: 'scatter',
          silent: true,
          symbolSize: 9,
          data: points.map((point, index) => ({
            value: [point.cost, point.score],
            symbolOffset: [shifts[index] ?? 0, 0],
            itemStyle: { color: colourOf(index), opacity: 1 },
            labelLine: { lineStyle: { color: colourOf(index), opacity: 0.4 } },
          })),
          label: {
            show: true,
            position: 'right',
            color: TEXT,
            fontSize: 11,
            lineHeight: 15,
            formatter: ({ dataIndex }) => oneLine(points[dataIndex]?.name ?? '', LABEL),
          },
          labelLine: { show: true, length2: 6 },
          labelLayout: { x: PAGE_WIDTH - LABEL_WIDTH + 8, moveOverlap: 'shiftY' },
        },
      ],
    },
  };
}

/** A score with its interval for each of some ordered settings. */
export function scoreLineChart(
  file: string,
  heading: Heading,
  { name, points }: { readonly name: string; readonly points: readonly Omit<ScoredPoint, 'cost'>[] },
): Chart {
  return {
    file,
    height: 360,
    option: {
      ...page(heading),
      grid: { left: 64, right: 64, top: HEAD + 12, bottom: 48 },
      xAxis: {
        type: 'category',
        name,
        nameLocation: 'middle',
        nameGap: 28,
        data: points.map((point) => point.name),
        ...AXIS,
      },
      yAxis: SCORE_AXIS,
      series: [
        errorBars(points.map(({ interval }, x) => ({ x, interval, colour: HUES[0] }))),
        {
          type: 'line',
          silent: true,
          color: HUES[0],
          symbol: 'circle',
          symbolSize: 9,
          data: points.map(({ score }) => score),
        },
      ],
    },
  };
}

export interface Shares {
  /** In the order of the legend; `part` is the key in `shares`. */
  readonly parts: readonly { readonly part: string; readonly name: string }[];
  readonly rows: readonly { readonly name: string; readonly shares: Readonly<Record<string, number>> }[];
}

const ROW = 26;

/** A bar for each row, filled by its parts. */
export function sharesChart(file: string, heading: Heading, { parts, rows }: Shares): Chart {
  return {
    file,
    height: HEAD + 48 + Math.max(rows.length * ROW, parts.length * 18),
    option: {
      ...page(heading),
      grid: { left: LABEL_WIDTH, right: LABEL_WIDTH, top: HEAD, bottom: 32 },
      legend: legend(PAGE_WIDTH - LABEL_WIDTH + EDGE, HEAD),
      xAxis: {
        type: 'value',
        min: 0,
        max: 1,
        ...AXIS,
        axisLabel: { ...AXIS.axisLabel, formatter: percent },
      },
      yAxis: {
        type: 'category',
        inverse: true,
        data: rows.map(({ name }) => oneLine(name, LABEL)),
        axisTick: { show: false },
        axisLabel: { color: TEXT, fontSize: 11, interval: 0 },
      },
      series: parts.map(({ part, name }, index) => ({
        type: 'bar',
        silent: true,
        stack: 'shares',
        name: keyed(index, oneLine(name, LABEL - 2)),
        barWidth: 14,
        color: colourOf(index),
        data: rows.map(({ shares }) => shares[part] ?? 0),
      })),
    },
  };
}
