import { z } from 'zod';
import { eachInParallel, sweep, type Swept } from '../../store/sweep';
import type { Files } from '../../store/store';
import type { CheckpointRef } from '../checkpoint-ref';
import { isWeightsKey, TRAINING_FOLDER, UNFINISHED_FOLDER, WEIGHTS_FOLDER, weightsKey } from '../store-keys';
import { readRecord } from './records';

/**
 * What the trainer keeps of a checkpoint, see `stored_checkpoint.py`: a record that is written last, and its files, each
 * under its SHA-256. Here they are looked for and removed, never written.
 */
const weightsSchema = z.object({
  schema: z.literal(1),
  files: z.array(z.object({ path: z.string(), bytes: z.int(), sha256: z.string() })),
});

const ADVICE = '; no weights there can be removed until a copy is put back or it is removed';

/** How many bytes of files a checkpoint has; null where there is none. */
export async function sizeOfWeights(files: Files, { trainRun, name }: CheckpointRef): Promise<number | null> {
  const weights = await readRecord(files, weightsKey(trainRun, name), weightsSchema);
  return weights?.files.reduce((sum, { bytes }) => sum + bytes, 0) ?? null;
}

/**
 * The trainer writes a file anew that is older than an hour, and is done with all of a checkpoint within half an hour
 * before it writes the record that names them. What is younger than this may be about to be named.
 */
const YOUNG_MS = 2 * 60 * 60 * 1000;

/**
 * Removes files of weights that no checkpoint names, of whatever training run, and what killed writers left; a dry run
 * only counts.
 *
 * @param olderThanMs at least two hours, whatever it says
 * @throws Error where the record of a checkpoint cannot be read: nothing is removed then
 */
export async function sweepWeights(
  files: Files,
  { olderThanMs = 0, dryRun = false }: { readonly olderThanMs?: number; readonly dryRun?: boolean } = {},
): Promise<Swept> {
  const than = new Date(Date.now() - Math.max(olderThanMs, YOUNG_MS));
  const named = new Set<string>();
  await eachInParallel(files.entries(TRAINING_FOLDER), async ({ key }) => {
    const weights = isWeightsKey(key) ? await readRecord(files, key, weightsSchema, ADVICE) : null;
    for (const { sha256 } of weights?.files ?? [])
      named.add(`${WEIGHTS_FOLDER}${sha256.slice(0, 2)}/${sha256}`);
  });
  const isLive = (key: string): boolean => named.has(key);
  return sweep(files, [WEIGHTS_FOLDER, UNFINISHED_FOLDER], { than, isLive, dryRun });
}
