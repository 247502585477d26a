import type { ECharts, EChartsOption, LineSeriesOption, ScatterSeriesOption } from 'echarts' with {
  'resolution-mode': 'import',
};
import { type Curve, INK, lastOf, type Panel, type Picture } from './panel';

/** Everything is measured in pixels of a page as wide as a README's column. */
export const PAGE = { width: 960, head: 76, columns: 2, row: 212 } as const;

const MARGIN = 16;

/** Where the lines of a panel are drawn, within the panel's own part of the page. */
const PLOT = { left: 60, right: 140, top: 44, bottom: 40 } as const;

/** So few are marked one by one. */
const FEW_CYCLES = 30;

const TICKS = 4;

export function pageHeight({ panels }: Picture): number {
  return PAGE.head + Math.ceil(panels.length / PAGE.columns) * PAGE.row;
}

/** A picture in the words of ECharts: a grid a panel, everything but the labels beside the curves. */
export function chartOption(picture: Picture): EChartsOption {
  const { panels, cycles } = picture;
  const boxes = panels.map((_, index) => plotBox(index));
  return {
    animation: false,
    backgroundColor: INK.paper,
    textStyle: { fontFamily: INK.fonts, color: INK.text },
    title: [headOf(picture), ...panels.map((panel, index) => titleOf(panel, boxes[index] ?? plotBox(index)))],
    grid: boxes.map((box) => ({ ...box, containLabel: false })),
    xAxis: panels.map((_, index) => cycleAxis(index, cycles)),
    yAxis: panels.map((panel, index) => valueAxis(index, panel)),
    series: panels.flatMap((panel, index) => seriesOf(panel, index, picture)),
  };
}

/** A rectangle on the page. */
interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Where a panel is plotted. */
function plotBox(index: number): Box {
  const width = PAGE.width / PAGE.columns;
  return {
    left: (index % PAGE.columns) * width + PLOT.left,
    top: PAGE.head + Math.floor(index / PAGE.columns) * PAGE.row + PLOT.top,
    width: width - PLOT.left - PLOT.right,
    height: PAGE.row - PLOT.top - PLOT.bottom,
  };
}

function headOf({ title, subtitle }: Picture): object {
  return headline({ text: title, subtext: subtitle, left: MARGIN, top: MARGIN, fontSize: 16 });
}

function titleOf({ title, note }: Panel, box: Box): object {
  const [left, top] = [box.left - PLOT.left + MARGIN, box.top - PLOT.top];
  return headline({ text: title, subtext: note, left, top, fontSize: 13 });
}

function headline({
  fontSize,
  ...words
}: { readonly fontSize: number } & Record<string, string | number>): object {
  const { text: color, faint, fonts: fontFamily } = INK;
  return {
    ...words,
    padding: 0,
    itemGap: 4,
    textStyle: { fontSize, fontFamily, fontWeight: 600, color },
    subtextStyle: { fontSize: 11, fontFamily, color: faint },
  };
}

function cycleAxis(gridIndex: number, cycles: readonly number[]): object {
  return {
    gridIndex,
    type: 'value',
    min: firstTick(cycles),
    max: cycles.at(-1) ?? 1,
    minInterval: 1,
    splitNumber: 5,
    axisLine: { lineStyle: { color: INK.rule }, onZero: false },
    axisTick: { show: false },
    splitLine: { show: false },
    axisLabel: { color: INK.faint, fontSize: 11, hideOverlap: true, showMinLabel: true, showMaxLabel: true },
  };
}

/** A single cycle stands at the end of an axis, which cannot begin where it ends. */
function firstTick(cycles: readonly number[]): number {
  const [first = 0] = cycles;
  return cycles.length === 1 ? first - 1 : first;
}

function valueAxis(gridIndex: number, { top, format }: Panel): object {
  return {
    gridIndex,
    type: 'value',
    ...(top !== undefined && { min: 0, max: top, interval: top / TICKS }),
    splitNumber: TICKS,
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: INK.rule, width: 1 } },
    axisLabel: { color: INK.faint, fontSize: 11, formatter: format },
  };
}

function seriesOf(panel: Panel, index: number, picture: Picture): (LineSeriesOption | ScatterSeriesOption)[] {
  const at = { xAxisIndex: index, yAxisIndex: index, silent: true } as const;
  const { cycles } = picture;
  const lines = panel.curves.map((curve, place): LineSeriesOption => ({
    ...at,
    ...lineOf(panel, curve, cycles),
    ...(panel.form === 'shares' && { stack: `shares ${index}` }),
    ...(place === 0 && { markLine: nightLines(picture) }),
  }));
  const points = panel.points === undefined ? [] : [{ ...at, ...pointsOf(panel.points, cycles) }];
  return [...spreadOf(panel, cycles).map((series) => ({ ...at, ...series })), ...lines, ...points];
}

function lineOf({ form }: Panel, curve: Curve, cycles: readonly number[]): LineSeriesOption {
  const isArea = form === 'shares';
  return {
    type: 'line',
    data: pair(cycles, curve.values),
    color: curve.colour,
    showSymbol: !isArea && cycles.length <= FEW_CYCLES,
    symbol: 'circle',
    symbolSize: 4,
    lineStyle: isArea ? { width: 0.75, color: INK.paper } : { width: 1.75 },
    ...(isArea && { areaStyle: { opacity: 0.85 } }),
  };
}

/** A band, as two areas of which the lower one is not seen. */
function spreadOf({ curves, spread }: Panel, cycles: readonly number[]): LineSeriesOption[] {
  const [main] = curves;
  if (main === undefined || spread === undefined) return [];
  const low = main.values.map((value, index) => (value === null ? null : value - (spread[index] ?? 0)));
  const part = (values: readonly (number | null)[], opacity: number): LineSeriesOption => ({
    type: 'line',
    data: pair(cycles, values),
    color: main.colour,
    stack: 'spread',
    stackStrategy: 'all',
    showSymbol: false,
    lineStyle: { width: 0 },
    areaStyle: { opacity },
  });
  return [
    part(low, 0),
    part(
      spread.map((value) => 2 * value),
      0.14,
    ),
  ];
}

function pointsOf(points: Curve, cycles: readonly number[]): ScatterSeriesOption {
  const data = pair(cycles, points.values).filter(([, value]) => value !== null);
  return {
    type: 'scatter',
    data,
    color: points.colour,
    symbolSize: 7,
    itemStyle: { borderColor: INK.paper, borderWidth: 1 },
    z: 4,
  };
}

function nightLines({ nightStarts }: Picture): object {
  return {
    symbol: 'none',
    silent: true,
    label: { show: false },
    lineStyle: { color: INK.faint, type: 'dotted', width: 1 },
    data: nightStarts.map((cycle) => ({ xAxis: cycle })),
  };
}

function pair(cycles: readonly number[], values: readonly (number | null)[]): [number, number | null][] {
  return cycles.map((cycle, index) => [cycle, values[index] ?? null]);
}

const LABEL = { gap: 15, distance: 10, mark: 7, longest: 14 } as const;

/** Names each curve where it ends, with its last value. Only a chart that has its options knows where that is. */
export function labelsOf(panel: Panel, index: number, chart: ECharts): object[] {
  const { left, top, width, height } = plotBox(index);
  const labels = labelHeights(panel);
  if (labels.length === 0) {
    const [x, y] = [left + width / 2, top + height / 2];
    return [textAt(x, y, 'nothing measured yet', { align: 'center', fill: INK.faint })];
  }
  const wanted = labels.map((label) => chart.convertToPixel({ yAxisIndex: index }, label.height));
  const places = spreadLabels(wanted, { gap: LABEL.gap, top, bottom: top + height });
  const x = left + width + LABEL.distance;
  return labels.flatMap(({ curve, value }, rank) => {
    const middle = places[rank] ?? top;
    const { name } = curve;
    const short = name.length <= LABEL.longest ? name : `${name.slice(0, LABEL.longest - 1)}…`;
    return [
      {
        type: 'rect',
        shape: { x, y: middle - LABEL.mark / 2, width: LABEL.mark, height: LABEL.mark, r: 2 },
        style: { fill: curve.colour },
      },
      textAt(x + LABEL.mark + 5, middle, `${short} ${panel.format(value)}`, {
        align: 'left',
        fill: INK.text,
      }),
    ];
  });
}

/** Where on the value axis a curve's label belongs: at its end, or in the middle of its area's end. */
function labelHeights({ form, curves, points }: Panel): { curve: Curve; height: number; value: number }[] {
  let below = 0;
  const all = points === undefined ? curves : [...curves, points];
  return all.flatMap((curve) => {
    const value = lastOf(curve);
    if (value === null) return [];
    if (form === 'lines') return [{ curve, height: value, value }];
    below += value;
    return [{ curve, height: below - value / 2, value }];
  });
}

function textAt(
  x: number,
  y: number,
  text: string,
  { align, fill }: { readonly align: 'left' | 'center'; readonly fill: string },
): object {
  return {
    type: 'text',
    style: { x, y, text, align, verticalAlign: 'middle', fill, fontSize: 11, fontFamily: INK.fonts },
  };
}

/**
 * Places for labels of one column that would lie over each other: as near as can be to where each wants to be, in the
 * same order, at least `gap` apart and within the bounds as long as there is room.
 *
 * @param wanted heights in pixels, in any order
 * @returns a height for each, in the order of `wanted`
 */
export function spreadLabels(
  wanted: readonly number[],
  { gap, top, bottom }: { readonly gap: number; readonly top: number; readonly bottom: number },
): number[] {
  const within = ({ members, centre }: Cluster): Cluster => {
    const half = ((members.length - 1) * gap) / 2;
    return { members, centre: Math.max(top + half, Math.min(centre, bottom - half)) };
  };
  const singles = wanted.map((centre, member) => ({ members: [member], centre }));
  const settled: Cluster[] = [];
  for (const single of singles.sort((a, b) => a.centre - b.centre)) {
    let next = within(single);
    for (let above = settled.at(-1); above !== undefined; above = settled.at(-1)) {
      if (next.centre - above.centre >= ((above.members.length + next.members.length) / 2) * gap) break;
      settled.pop();
      next = within(join(above, next));
    }
    settled.push(next);
  }
  const places: number[] = [];
  for (const { members, centre } of settled) {
    members.forEach((member, rank) => {
      places[member] = centre + (rank - (members.length - 1) / 2) * gap;
    });
  }
  return places;
}

/** Labels that touch, from the topmost down, and the middle of them all. */
interface Cluster {
  readonly members: readonly number[];
  readonly centre: number;
}

/** Around the mean of what their members wanted. */
function join(above: Cluster, below: Cluster): Cluster {
  const members = [...above.members, ...below.members];
  const sum = above.centre * above.members.length + below.centre * below.members.length;
  return { members, centre: sum / members.length };
}
