import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EChartsOption } from 'echarts' with { 'resolution-mode': 'import' };
import { reasonOf } from '../reason-of';
import { say } from './terminal';

/** A page of charts, and the name of its files without their endings. */
export interface Drawing {
  readonly file: string;
  /** In pixels. */
  readonly height: number;
  readonly option: EChartsOption;
}

/** In pixels: as wide as a README's column. */
export const PAGE_WIDTH = 960;

export const TEXT = '#24292f';
export const FAINT = '#6e7781';
export const PAPER = '#ffffff';
// Without quotes: resvg 2.6 finds no font named after a quoted one.
export const FONTS = 'Segoe UI, Helvetica Neue, Arial, Liberation Sans, DejaVu Sans, sans-serif';

/** Okabe and Ito's palette, which people with any colour vision can tell apart (https://jfly.uni-koeln.de/color/). */
export const HUES = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#f0e442'] as const;

export const GREY = '#9a9a9a';

export function headline(text: string, subtext: string, fontSize: number, place: object): object {
  return {
    ...place,
    text,
    subtext,
    padding: 0,
    itemGap: 4,
    textStyle: { fontSize, fontWeight: 600, color: TEXT },
    subtextStyle: { fontSize: 11, color: FAINT },
  };
}

/** Writes the SVG, and the PNG where this machine can make it. @returns the files */
export async function keepPicture(drawing: Drawing, folder: string): Promise<string[]> {
  const svg = await drawSvg(drawing);
  const svgFile = join(folder, `${drawing.file}.svg`);
  await writeFile(svgFile, svg);
  try {
    const pngFile = join(folder, `${drawing.file}.png`);
    await writeFile(pngFile, await drawPng(svg));
    return [svgFile, pngFile];
  } catch (error) {
    say(`No PNG: ${reasonOf(error)}`);
    return [svgFile];
  }
}

/** @throws Error that says how to install ECharts, an optional peer dependency, where it is missing */
export async function drawSvg({ height, option }: Drawing): Promise<string> {
  const echarts = await import('echarts').catch(missing('pictures are drawn', 'echarts@6'));
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: PAGE_WIDTH, height });
  try {
    chart.setOption(option);
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}

/** @throws Error that says how to install resvg, an optional peer dependency, where it is missing */
export async function drawPng(svg: string): Promise<Buffer> {
  const { Resvg } = await import('@resvg/resvg-js').catch(missing('PNG is made', '@resvg/resvg-js@2'));
  // Twice the page, for screens with fine pixels.
  return new Resvg(svg, { fitTo: { mode: 'width', value: 2 * PAGE_WIDTH } }).render().asPng();
}

function missing(what: string, dependency: string): (cause: unknown) => never {
  return (cause) => {
    const reason = reasonOf(cause);
    const [name] = dependency.split(/(?<=.)@/);
    throw new Error(
      `${what} by the package ${name}, which cannot be loaded; install it with "npm install ${dependency}" (${reason})`,
      { cause },
    );
  };
}
