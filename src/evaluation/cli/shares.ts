import type { EChartsOption } from 'echarts' with { 'resolution-mode': 'import' };
import { type Drawing, GREY, HUES, PAGE_WIDTH, TEXT } from '../../cli/draw';
import { TOPOLOGIES, TOPOLOGY_NAMES } from '../../plan/topology';
import type { MethodSummary, Summary } from '../summarize';
import { AXIS, colourOf, EDGE, HEAD, page } from './picture-page';

/** Which worker answered how many of the steps. */
export function workerShares(summary: Summary, methods: readonly MethodSummary[]): Drawing {
  const rows = methods.map(({ method, workerShares: shares }) => ({ method, shares }));
  return drawShares('worker-shares', {
    parts: summary.workers.map((part, index) => ({ part, name: part, colour: colourOf(index) })),
    rows,
    option: page(summary, 'Who answers', 'share of all answered steps, by worker'),
  });
}

/** Of which shape the plans were. */
export function topologyShares(summary: Summary, methods: readonly MethodSummary[]): Drawing {
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
const ROW = 26;

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
