import { mkdir } from 'node:fs/promises';
import { EXIT, type ExitCode, UsageError } from '../../../cli/exit-code';
import { keepPicture } from '../../../cli/draw';
import { print } from '../../../cli/terminal';
import { readMetrics } from '../../client/read-runs';
import { findTraining, SEE_LIST, type TrainOptions } from '../session';
import { drawnPicture } from './chart';
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
  for (const picture of [learningPicture(cycles), effortPicture(cycles)]) {
    for (const file of await keepPicture(drawnPicture(picture), out)) await print(file);
  }
  return EXIT.answered;
}
