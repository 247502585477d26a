import type { EChartsOption } from 'echarts' with { 'resolution-mode': 'import' };
import {
  AXIS,
  type Chart,
  colourOf,
  dollars,
  EDGE,
  GREY,
  headOf,
  keyed,
  legend,
  NARROW,
  page,
  type Sheet,
} from '../../../src/report/chart';
import { oneLine } from '../../../src/trace/lines';
import type { CostLine } from '../api/types';

/** Total of a day, and each worker's share. */
export interface Day extends CostLine {
  /** USD. */
  readonly workers: ReadonlyMap<string, number>;
}

/** Groups lines, named by day and worker and in chronological order, into days. */
export function daysOf(lines: readonly CostLine[]): Day[] {
  const days = new Map<string, Day>();
  for (const line of lines) {
    const [name = '', ...rest] = line.name.split(' ');
    const day = days.get(name);
    const workers = new Map([...(day?.workers ?? []), [rest.join(' '), line.costUsd]]);
    days.set(name, { ...(day === undefined ? line : add(day, line)), name, workers });
  }
  return [...days.values()];
}

function add(one: CostLine, other: CostLine): CostLine {
  return {
    ...one,
    calls: one.calls + other.calls,
    open: one.open + other.open,
    unknown: one.unknown + other.unknown,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    nanoUsd: one.nanoUsd + other.nanoUsd,
    savedNanoUsd: one.savedNanoUsd + other.savedNanoUsd,
    costUsd: one.costUsd + other.costUsd,
    costIsLowerBound: one.costIsLowerBound || other.costIsLowerBound,
    savedUsd: one.savedUsd + other.savedUsd,
  };
}

/** Most bars that are still wider than the gaps between them. */
const MOST_DAYS = 60;
/** Most parts of a bar that a reader can tell apart. */
const MOST_WORKERS = 6;
const PLOT_HEIGHT = 220;

/** Returns a chart of the last days as bars, stacked by worker, most expensive at the bottom. */
export function daysChart(all: readonly Day[], sheet: Sheet): Chart {
  const days = all.slice(-MOST_DAYS);
  const sums = new Map<string, number>();
  for (const { workers } of days)
    for (const [name, usd] of workers) sums.set(name, (sums.get(name) ?? 0) + usd);
  const names = [...sums].sort(([, one], [, other]) => other - one).map(([name]) => name);
  const shown = names.length > MOST_WORKERS ? names.slice(0, MOST_WORKERS - 1) : names;
  const rest = names.slice(shown.length);
  const bars = shown.map((name, index) => ({ name, parts: [name], color: colourOf(index) }));
  if (rest.length > 0) bars.push({ name: 'others', parts: rest, color: GREY });
  const [head, room] = [headOf(sheet), sheet.width < NARROW ? 112 : 190];
  const heading = { title: 'Cost by day, stacked by worker', subtitle: 'USD; days in UTC' };
  const option: EChartsOption = {
    ...page(heading, sheet),
    grid: { left: 56, right: room, top: head, height: PLOT_HEIGHT },
    legend: { ...legend(sheet.width - room + EDGE, head), data: bars.toReversed().map(keyOf) },
    xAxis: {
      type: 'category',
      data: days.map(({ name }) => name.slice(5)),
      axisTick: { show: false },
      axisLabel: { ...AXIS.axisLabel, hideOverlap: true },
    },
    yAxis: { type: 'value', splitNumber: 4, axisLabel: { ...AXIS.axisLabel, formatter: dollars } },
    series: bars.map((bar) => ({
      type: 'bar',
      silent: true,
      stack: 'day',
      name: keyOf(bar),
      color: bar.color,
      barMaxWidth: 36,
      data: days.map(({ workers }) => bar.parts.reduce((sum, name) => sum + (workers.get(name) ?? 0), 0)),
    })),
  };
  return { file: 'days', ...heading, height: head + PLOT_HEIGHT + 32, option };

  function keyOf({ name }: { readonly name: string }): string {
    return keyed(names.indexOf(name), oneLine(name, room < 150 ? 13 : 24));
  }
}
