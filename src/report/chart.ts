import type { EChartsOption } from 'echarts' with { 'resolution-mode': 'import' };
import { needsPackages, reasonOf } from '../errors';
import { oneLine } from '../trace/lines';

// Shared parts of all charts of evaluations and training runs.

export interface Heading {
  readonly title: string;
  readonly subtitle: string;
}

export interface Chart extends Heading {
  readonly file: string;
  readonly height: number;
  readonly option: EChartsOption;
}

/** Canvas of a chart: its width in pixels, and whether the heading is part of the picture. */
export interface Sheet {
  readonly width: number;
  readonly isHeaded: boolean;
}

/** Canvas of pictures in reports, as wide as a README's column. */
export const REPORT: Sheet = { width: 960, isHeaded: true };

/** Width in pixels below which labels are shorter, as on a phone. */
export const NARROW = 600;

/** The palette of Okabe and Ito, safe for colour-blind readers (https://jfly.uni-koeln.de/color/). */
export const HUES = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#f0e442'] as const;
export const GREY = '#9a9a9a';

export const TEXT = '#24292f';
export const FAINT = '#6e7781';
export const PAPER = '#ffffff';
const FONTS = 'Segoe UI, Helvetica Neue, Arial, Liberation Sans, DejaVu Sans, sans-serif';

export const EDGE = 16;
const HEAD = 72;

/** Returns the height of the area above a plot, in pixels. */
export function headOf({ isHeaded }: Sheet): number {
  return isHeaded ? HEAD : EDGE;
}

export const AXIS = {
  axisLabel: { color: FAINT, fontSize: 11 },
  nameTextStyle: { color: FAINT, fontSize: 11 },
} as const;

export function page(heading: Heading, { isHeaded }: Sheet, ...more: readonly object[]): EChartsOption {
  return {
    animation: false,
    backgroundColor: PAPER,
    textStyle: { fontFamily: FONTS, color: TEXT },
    title: [...(isHeaded ? [headline(heading, 16, { left: EDGE, top: EDGE })] : []), ...more],
  };
}

export function headline({ title, subtitle }: Heading, fontSize: number, place: object): object {
  return {
    ...place,
    text: oneLine(title, 90),
    subtext: oneLine(subtitle, 150),
    padding: 0,
    itemGap: 4,
    // Without a line height, ECharts measures a Chinese character, for which a browser may have no font.
    textStyle: { fontSize, lineHeight: fontSize, fontWeight: 600, color: TEXT },
    subtextStyle: { fontSize: 11, lineHeight: 11, color: FAINT },
  };
}

export function colourOf(index: number): string {
  return HUES[index % HUES.length] ?? GREY;
}

/** Makes a series name unique, since ECharts identifies series by name; the legend omits the key. */
export function keyed(key: number, name: string): string {
  return `${key}:${name}`;
}

export function legend(left: number, top: number): object {
  return {
    left,
    top,
    orient: 'vertical',
    itemGap: 4,
    itemWidth: 8,
    itemHeight: 8,
    icon: 'roundRect',
    textStyle: { color: TEXT, fontSize: 11, lineHeight: 11 },
    formatter: (name: string) => name.slice(name.indexOf(':') + 1),
  };
}

export interface Picture {
  readonly file: string;
  readonly svg: string;
}

/** Renders charts as SVG. @throws Error that says how to install ECharts, an optional peer dependency */
export async function drawCharts(charts: readonly Chart[]): Promise<Picture[]> {
  const echarts = await import('echarts').catch((cause: unknown) => {
    throw new Error(needsPackages('a chart', ['echarts@6'], reasonOf(cause)), { cause });
  });
  return charts.map(({ file, height, option }) => {
    const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: REPORT.width, height });
    try {
      chart.setOption(option);
      return { file: `${file}.svg`, svg: chart.renderToSVGString() };
    } finally {
      chart.dispose();
    }
  });
}

// Numbers for people have three significant digits.
const DIGITS = { maximumSignificantDigits: 3 } as const;
const compact = new Intl.NumberFormat('en', { ...DIGITS, notation: 'compact' });
const share = new Intl.NumberFormat('en', { ...DIGITS, style: 'percent' });

export function plain(value: number): string {
  return compact.format(value);
}

export function percent(value: number): string {
  return share.format(value);
}

export function dollars(value: number): string {
  return `$${plain(value)}`;
}

/** @param value milliseconds */
export function duration(value: number): string {
  if (value < 1000) return `${plain(value)} ms`;
  if (value < 120_000) return `${plain(value / 1000)} s`;
  if (value < 7_200_000) return `${plain(value / 60_000)} min`;
  return `${plain(value / 3_600_000)} h`;
}
