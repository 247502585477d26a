import { z } from 'zod';
import type { Store } from '../../store/store';
import { eachInParallel, sweep, type Swept } from '../../store/sweep';
import { readRecord } from './records';
import type { CheckpointRef } from '../checkpoint-ref';
import { isWeightsKey, PIECES_FOLDER, readPieceKey, TRAINING_FOLDER, weightsKey } from '../keys';

/**
 * What the trainer keeps of a checkpoint, see `stored_checkpoint.py`: a record that is written last, and the pieces of
 * its files, each under its SHA-256. Here they are looked for and removed, never written.
 */
const weightsSchema = z.object({
  schema: z.literal(1),
  files: z.array(z.object({ path: z.string(), bytes: z.int(), chunks: z.array(z.string()) })),
});

const ADVICE =
  '; nothing of the weights in this store can be removed until a copy is put back or it is removed';

/** How many bytes of files the store has of a checkpoint; null where it has none. */
export async function sizeOfWeights(store: Store, { trainRun, name }: CheckpointRef): Promise<number | null> {
  const weights = await readRecord(store, weightsKey(trainRun, name), weightsSchema);
  return weights?.files.reduce((sum, { bytes }) => sum + bytes, 0) ?? null;
}

/**
 * The trainer writes a piece anew that is older than an hour, and is done with all of a checkpoint within half an hour
 * before it writes the record that names them. What is younger than this may be about to be named.
 */
const YOUNG_MS = 2 * 60 * 60 * 1000;

/**
 * Removes pieces that no checkpoint of the store names, of whatever training run; a dry run only counts.
 *
 * @param olderThanMs at least two hours, whatever it says
 * @throws Error where the record of a checkpoint cannot be read: nothing is removed then
 */
export async function sweepWeights(
  store: Store,
  { olderThanMs = 0, dryRun = false }: { readonly olderThanMs?: number; readonly dryRun?: boolean } = {},
): Promise<Swept> {
  const than = new Date(Date.now() - Math.max(olderThanMs, YOUNG_MS));
  const named = new Set<string>();
  await eachInParallel(store.entries(TRAINING_FOLDER), async ({ key }) => {
    const weights = isWeightsKey(key) ? await readRecord(store, key, weightsSchema, ADVICE) : null;
    for (const { chunks } of weights?.files ?? []) for (const chunk of chunks) named.add(chunk);
  });
  const isLive = (key: string): boolean => {
    const piece = readPieceKey(key);
    return piece === null || named.has(piece);
  };
  return sweep(store, [PIECES_FOLDER], { than, isLive, dryRun });
}
