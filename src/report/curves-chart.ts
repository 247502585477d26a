import type { EChartsOption, LineSeriesOption } from 'echarts' with { 'resolution-mode': 'import' };
import { oneLine } from '../trace/lines';
import {
  AXIS,
  type Chart,
  colourOf,
  EDGE,
  FAINT,
  type Heading,
  headline,
  headOf,
  keyed,
  legend,
  page,
  PAPER,
  REPORT,
  type Sheet,
} from './chart';

export interface Curve {
  /** Name in the legend; an empty one is not shown there. */
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly colour?: string;
}

export interface Panel {
  readonly title: string;
  readonly note: string;
  /** `lines`: separate lines; `shares`: stacked areas that fill the panel. */
  readonly form: 'lines' | 'shares';
  readonly curves: readonly Curve[];
  readonly format: (value: number) => string;
}

export interface CurvesPage extends Heading {
  readonly file: string;
  readonly cycles: readonly number[];
  /** First cycle of each night after the first. */
  readonly nightStarts: readonly number[];
  readonly panels: readonly Panel[];
}

const COLUMNS = 2;
const NARROWEST_PANEL = 380;
const PANEL_HEIGHT = 212;
const MARGIN = { left: 60, right: 140, top: 44, bottom: 40 } as const;
const FEW_VALUES = 30;

export function curvesChart(
  { file, panels, cycles, nightStarts, ...heading }: CurvesPage,
  sheet: Sheet = REPORT,
): Chart {
  const columns = Math.min(COLUMNS, panels.length, Math.floor(sheet.width / NARROWEST_PANEL)) || 1;
  const [width, head] = [sheet.width / columns, headOf(sheet)];
  const drawn = panels.map((panel, index) => {
    const left = (index % columns) * width;
    const top = head + Math.floor(index / columns) * PANEL_HEIGHT;
    return { ...panel, index, left, top, curves: labelled(panel, index) };
  });
  const titles = drawn.map(({ title, note, curves, left, top }) =>
    headline({ title, subtitle: curves.length === 0 ? 'nothing measured yet' : note }, 13, {
      left: left + EDGE,
      top,
    }),
  );
  const option: EChartsOption = {
    ...page(heading, sheet, ...titles),
    grid: drawn.map(({ left, top }) => ({
      left: left + MARGIN.left,
      top: top + MARGIN.top,
      width: width - MARGIN.left - MARGIN.right,
      height: PANEL_HEIGHT - MARGIN.top - MARGIN.bottom,
    })),
    legend: drawn.map(({ form, curves, left, top }) => ({
      ...legend(left + width - MARGIN.right + 6, top + MARGIN.top),
      // Lists stacked areas from top to bottom.
      data: (form === 'shares' ? curves.toReversed() : curves).flatMap(({ name, label }) =>
        name ? label : [],
      ),
    })),
    xAxis: drawn.map(({ index }) => ({
      gridIndex: index,
      type: 'category',
      data: [...cycles],
      boundaryGap: false,
      axisTick: { show: false },
      axisLabel: { ...AXIS.axisLabel, hideOverlap: true },
    })),
    yAxis: drawn.map(({ index, form, format }) => ({
      gridIndex: index,
      type: 'value',
      ...(form === 'shares' ? { max: 1, interval: 0.25 } : { scale: true, splitNumber: 4 }),
      axisLabel: { ...AXIS.axisLabel, formatter: format },
    })),
    series: drawn.flatMap(({ form, index, curves }) =>
      curves.map((curve, place): LineSeriesOption => ({
        xAxisIndex: index,
        yAxisIndex: index,
        type: 'line',
        silent: true,
        name: curve.label,
        data: [...curve.values],
        connectNulls: true,
        color: curve.colour,
        symbol: 'circle',
        ...(form === 'shares' ? areaStyle(curve, index) : lineStyle(curve)),
        markLine: place === 0 ? nightLines(nightStarts) : undefined,
      })),
    ),
  };
  return { file, ...heading, height: head + Math.ceil(panels.length / columns) * PANEL_HEIGHT, option };
}

/** Returns the curves that have a value, each with a colour and a label with its last value. */
function labelled({ curves, format }: Panel, index: number): (Curve & { readonly label: string })[] {
  return curves.flatMap((curve, place) => {
    const last = curve.values.findLast((value) => value !== null);
    if (last === undefined) return [];
    const label = keyed(index * 100 + place, `${oneLine(curve.name, 14)} ${format(last)}`);
    return [{ ...curve, label, colour: curve.colour ?? colourOf(place) }];
  });
}

function areaStyle({ values }: Curve, index: number): LineSeriesOption {
  return {
    stack: `shares ${index}`,
    showSymbol: values.length === 1,
    lineStyle: { width: 0.75, color: PAPER },
    areaStyle: { opacity: 0.85 },
  };
}

function lineStyle({ values }: Curve): LineSeriesOption {
  const showSymbol = values.filter((value) => value !== null).length <= FEW_VALUES;
  return { showSymbol, symbolSize: 4, lineStyle: { width: 1.75 } };
}

function nightLines(cycles: readonly number[]): LineSeriesOption['markLine'] {
  return {
    symbol: 'none',
    label: { show: false },
    lineStyle: { color: FAINT, type: 'dotted', width: 1 },
    data: cycles.map((cycle) => ({ xAxis: String(cycle) })),
  };
}
