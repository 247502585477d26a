import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type * as Resvg from '@resvg/resvg-js';
import type * as ECharts from 'echarts' with { 'resolution-mode': 'import' };
import { type AddCommands, CONFIG, RUN } from '../../../cli/arguments';
import { EXIT, type ExitCode, UsageError } from '../../../cli/exit-code';
import { print, say } from '../../../cli/terminal';
import { readMetrics } from '../../client/read-runs';
import { findTraining, SEE_LIST, type TrainOptions } from '../session';
import { chartOption, labelsOf, PAGE, pageHeight } from './chart';
import type { Picture } from './panel';
import { effortPicture, learningPicture } from './pictures';

/** `train plot`: draws a training run from its metrics in the store, as SVG and PNG. Needs no server. */
export const addPlot: AddCommands = (train, settle) => {
  train
    .command('plot')
    .description('draw a training run as SVG and PNG')
    .requiredOption('--out <folder>', 'for the pictures')
    .option(...RUN)
    .option(...CONFIG)
    .action(async (options: PlotOptions) => {
      settle(await plotRun(options));
    });
};

interface PlotOptions extends TrainOptions {
  /** Made where it is not there. */
  readonly out: string;
}

async function plotRun({ out, ...options }: PlotOptions): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  const cycles = await readMetrics(store, trainRun);
  if (cycles.length === 0) {
    throw new UsageError(
      `training run ${trainRun} has no cycle in the store ${store.url} that is over: ${SEE_LIST}`,
    );
  }
  await mkdir(out, { recursive: true });
  for (const picture of [learningPicture(cycles), effortPicture(cycles)]) await keepPicture(picture, out);
  return EXIT.answered;
}

/** Writes the SVG, and the PNG where this machine can make it, and prints their files. */
async function keepPicture(picture: Picture, folder: string): Promise<void> {
  const svg = await drawSvg(picture);
  await keep(join(folder, `${picture.file}.svg`), svg);
  try {
    await keep(join(folder, `${picture.file}.png`), await drawPng(svg));
  } catch (error) {
    say(`No PNG: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function keep(path: string, content: string | Buffer): Promise<void> {
  await writeFile(path, content);
  await print(path);
}

/**
 * Draws a picture as SVG.
 *
 * @throws Error that says how to install ECharts, where it is not there
 */
export async function drawSvg(picture: Picture): Promise<string> {
  // An optional peer dependency, as resvg is.
  const echarts: typeof ECharts = await load('pictures are drawn', 'echarts', 6, () => import('echarts'));
  const size = { width: PAGE.width, height: pageHeight(picture) };
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, ...size });
  try {
    chart.setOption(chartOption(picture));
    // Only now are the axes known, and with them where a curve ends.
    chart.setOption({ graphic: picture.panels.flatMap((panel, index) => labelsOf(panel, index, chart)) });
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}

/** Twice the page, for screens with fine pixels. */
const SCALE = 2;

/**
 * Turns a picture into PNG, with the fonts of this machine.
 *
 * @throws Error that says how to install resvg, where it is not there
 */
export async function drawPng(svg: string): Promise<Buffer> {
  const resvg: typeof Resvg = await load(
    'PNG is made',
    '@resvg/resvg-js',
    2,
    () => import('@resvg/resvg-js'),
  );
  const image = new resvg.Resvg(svg, { fitTo: { mode: 'width', value: PAGE.width * SCALE } });
  return image.render().asPng();
}

async function load<Module>(
  what: string,
  name: string,
  version: number,
  importIt: () => Promise<Module>,
): Promise<Module> {
  try {
    return await importIt();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `${what} by the package ${name}, which cannot be loaded; install it with "npm install ${name}@${version}" (${reason})`,
      { cause: error },
    );
  }
}
