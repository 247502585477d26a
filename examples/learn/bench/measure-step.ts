import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { trainerEnv, trainerPython } from '../support/programs';
import type { PlainUpdate } from './plain-loop';

const TRAINER = resolve(__dirname, '../../../trainer');

const seconds = z.object({
  /** Until a forked process begins with its work. */
  fork: z.number(),
  /** From the files of a checkpoint to those of the next one. */
  whole: z.number(),
  /** Time of the training loop within it: all optimizer steps. */
  loop: z.number(),
});
export type StepSeconds = z.infer<typeof seconds>;

const stepFiguresSchema = z.object({
  /** Seconds that the libraries take to be imported. */
  imports: z.number(),
  /** Medians over all rounds, in seconds. */
  ours: seconds,
  trl: seconds,
});
export type StepFigures = z.infer<typeof stepFiguresSchema>;

/**
 * Has Python make the same update by the product's trainer and by bare TRL, in turn, each time in a fork.
 *
 * @param root folder of the checkpoints, which is left as it is
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
