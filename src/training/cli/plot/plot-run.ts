import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT, type ExitCode, UsageError } from '../../../cli/exit-code';
import { print, say } from '../../../cli/terminal';
import { readMetrics } from '../../client/read-runs';
import { findTraining, SEE_LIST, type TrainOptions } from '../session';
import { chartOption, PAGE_WIDTH, pageHeight, type Picture } from './chart';
import { effortPicture, learningPicture } from './pictures';

export async function plotRun({
  out,
  ...options
}: TrainOptions & { readonly out: string }): Promise<ExitCode> {
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

/** @throws Error that says how to install ECharts, an optional peer dependency, where it is missing */
export async function drawSvg(picture: Picture): Promise<string> {
  const echarts = await import('echarts').catch(missing('pictures are drawn', 'echarts@6'));
  const size = { width: PAGE_WIDTH, height: pageHeight(picture) };
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, ...size });
  try {
    chart.setOption(chartOption(picture));
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
    const reason = cause instanceof Error ? cause.message : String(cause);
    const [name] = dependency.split(/(?<=.)@/);
    throw new Error(
      `${what} by the package ${name}, which cannot be loaded; install it with "npm install ${dependency}" (${reason})`,
      { cause },
    );
  };
}
