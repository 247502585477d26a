import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT, type ExitCode, UsageError } from '../../../cli/exit-code';
import { print, say } from '../../../cli/terminal';
import { readMetrics } from '../../client/read-runs';
import { findTraining, type TrainOptions } from '../session';
import { drawPng, drawSvg } from './draw';
import type { Picture } from './panel';
import { effortPicture, learningPicture } from './pictures';

/** The options of `train plot`. */
export interface PlotOptions extends TrainOptions {
  /** Folder for the pictures, made where it is not there. */
  readonly out: string;
}

/** Draws a training run from its metrics in the store, as SVG and PNG, and prints the files. Needs no server. */
export async function plotRun({ out, ...options }: PlotOptions): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  const cycles = await readMetrics(store, trainRun);
  if (cycles.length === 0) {
    throw new UsageError(
      `training run ${trainRun} has no cycle in the store ${store.url} that is over: ` +
        'see "temporal-conductor train list" for what there is',
    );
  }
  await mkdir(out, { recursive: true });
  for (const picture of [learningPicture(cycles), effortPicture(cycles)]) await keepPicture(picture, out);
  return EXIT.answered;
}

/** Writes the SVG, and the PNG where this machine can make it. */
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
