import type { EChartsOption, LineSeriesOption } from 'echarts' with { 'resolution-mode': 'import' };
import { type Drawing, FAINT, FONTS, headline, HUES, PAGE_WIDTH, PAPER, TEXT } from '../../../cli/draw';
import { oneLine } from '../../../trace/lines';

/** A quantity over the cycles, in their order; null: not measured. */
export interface Curve {
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly colour?: string;
}

export interface Panel {
  readonly title: string;
  readonly note: string;
  /** `lines`: each by itself; `shares`: areas on top of each other, which fill the panel. */
  readonly form: 'lines' | 'shares';
  readonly curves: readonly Curve[];
  readonly format: (value: number) => string;
}

/** A page of charts over the cycles of a training run. */
export interface Picture {
  readonly file: string;
  readonly title: string;
  readonly subtitle: string;
  readonly cycles: readonly number[];
  /** Cycles that a night started with, the first one's left out. */
  readonly nightStarts: readonly number[];
  readonly panels: readonly Panel[];
}

const HEAD = 76;
const COLUMNS = 2;
const PANEL = { width: PAGE_WIDTH / COLUMNS, height: 212 } as const;
/** Around the plot of a panel; its legend stands on the right. */
const MARGIN = { left: 60, right: 140, top: 44, bottom: 40 } as const;
const EDGE = 16;

/** Up to this many values are marked one by one. */
const FEW_VALUES = 30;

/** A picture as it is drawn. */
export function drawnPicture(picture: Picture): Drawing {
  const height = HEAD + Math.ceil(picture.panels.length / COLUMNS) * PANEL.height;
  return { file: picture.file, height, option: chartOption(picture) };
}

/** A picture as an option of ECharts: each panel is a grid with a title and a legend. */
export function chartOption({ title, subtitle, panels, cycles, nightStarts }: Picture): EChartsOption {
  const drawn = panels.map((panel, index) => {
    const left = (index % COLUMNS) * PANEL.width;
    const top = HEAD + Math.floor(index / COLUMNS) * PANEL.height;
    const curves = labelled(panel, index);
    return { ...panel, index, left, top, curves };
  });
  return {
    animation: false,
    backgroundColor: PAPER,
    textStyle: { fontFamily: FONTS, color: TEXT },
    title: [
      headline(title, subtitle, 16, { left: EDGE, top: EDGE }),
      ...drawn.map(({ title, note, curves, left, top }) =>
        headline(title, curves.length === 0 ? 'nothing measured yet' : note, 13, { left: left + EDGE, top }),
      ),
    ],
    grid: drawn.map(({ left, top }) => ({
      left: left + MARGIN.left,
      top: top + MARGIN.top,
      width: PANEL.width - MARGIN.left - MARGIN.right,
      height: PANEL.height - MARGIN.top - MARGIN.bottom,
    })),
    legend: drawn.map(({ form, curves, left, top }) => ({
      left: left + PANEL.width - MARGIN.right + 6,
      top: top + MARGIN.top,
      orient: 'vertical',
      itemGap: 4,
      itemWidth: 8,
      itemHeight: 8,
      icon: 'roundRect',
      textStyle: { color: TEXT, fontSize: 11 },
      formatter: (label) => label.slice(label.indexOf(':') + 1),
      // As the areas lie, the topmost first.
      data: (form === 'shares' ? curves.toReversed() : curves).map(({ label }) => label),
    })),
    xAxis: drawn.map(({ index }) => ({
      gridIndex: index,
      type: 'category',
      data: [...cycles],
      boundaryGap: false,
      axisTick: { show: false },
      axisLabel: { color: FAINT, fontSize: 11, hideOverlap: true },
    })),
    yAxis: drawn.map(({ index, form, format }) => ({
      gridIndex: index,
      type: 'value',
      ...(form === 'shares' ? { max: 1, interval: 0.25 } : { scale: true, splitNumber: 4 }),
      axisLabel: { color: FAINT, fontSize: 11, formatter: format },
    })),
    series: drawn.flatMap(({ form, index, curves }) =>
      curves.map((curve, place): LineSeriesOption => ({
        xAxisIndex: index,
        yAxisIndex: index,
        type: 'line',
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
}

/** The curves that have a value, each with a colour and its last value. ECharts finds a series by its name, hence the index. */
function labelled({ curves, format }: Panel, index: number): (Curve & { readonly label: string })[] {
  return curves.flatMap((curve, place) => {
    const last = curve.values.findLast((value) => value !== null);
    if (last === undefined) return [];
    const label = `${index}:${oneLine(curve.name, 14)} ${format(last)}`;
    return [{ ...curve, label, colour: curve.colour ?? HUES[place % HUES.length] }];
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
