import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { trainerEnv, trainerPython } from '../support/programs';
import type { PlainUpdate } from './plain-loop';

const TRAINER = resolve(__dirname, '../../trainer');

const seconds = z.object({
  /** Time until a forked process starts its work. */
  fork: z.number(),
  /** Time from the files of a checkpoint to those of the next one. */
  whole: z.number(),
  /** Time of the training loop within `whole`: all optimizer steps. */
  loop: z.number(),
});
export type StepSeconds = z.infer<typeof seconds>;

const stepFiguresSchema = z.object({
  /** Time to import the libraries, in seconds. */
  imports: z.number(),
  /** Medians over all rounds, in seconds. */
  ours: seconds,
  trl: seconds,
});
export type StepFigures = z.infer<typeof stepFiguresSchema>;

/**
 * Measures the same update by the product's trainer and by bare TRL, in turn, each time in a fork of a Python process.
 *
 * @param root folder of the checkpoints, which stays unchanged
 */
export async function measureStep(
  root: string,
  { request, batch }: PlainUpdate,
  rounds: number,
): Promise<StepFigures> {
  const file = join(root, 'request.json');
  await writeFile(file, JSON.stringify(request));
  const given = { '--root': root, '--request': file, '--batch': batch, '--rounds': `${rounds}` };
  const program = join(TRAINER, 'bench', 'measure_step.py');
  const { stdout } = await promisify(execFile)(
    await trainerPython(),
    [program, ...Object.entries(given).flat()],
    { env: trainerEnv() },
  );
  return stepFiguresSchema.parse(JSON.parse(stdout));
}
