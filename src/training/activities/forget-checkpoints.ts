import { posix } from 'node:path';
import { eachInParallel, type Files, type Store, sweep, type Swept, timeAgo } from '../../store/store';
import { openFiles } from '../artifacts';
import { checkpointId, type CheckpointRef, readCheckpointId } from '../names';
import { trainingOf, type TrainingSettings } from '../config/resolve';
import type { TrainableConfig } from '../config/schema';
import * as keys from '../store-keys';
import { readServing } from '../policy/serving';
import { isOvertaken } from './open-night';
import type { RunRecord } from '../records';
import { readRecord } from '../../store/records';
import { readNight, readTrainRun } from './records';
import { z } from 'zod';

export interface ForgetCheckpointsRequest {
  readonly trainRun: string;
  readonly needed: readonly CheckpointRef[];
  readonly keep: TrainingSettings['keep'];
}

/**
 * Activity `conductor.train.forgetCheckpoints`: removes the checkpoints that nothing needs, and returns the remaining
 * ones. Manifests go first, then file lists, then files, so that nothing ever refers to a removed file.
 */
export async function forgetCheckpoints(
  { store, config }: { readonly store: Store; readonly config: TrainableConfig },
  request: ForgetCheckpointsRequest,
): Promise<{ readonly kept: readonly string[] }> {
  const { trainRun } = request;
  const files = openFiles(trainingOf(config).artifacts);
  const manifests = await store.list(keys.checkpointsFolder(trainRun));
  const weights = await files.list(keys.weightsFolder(trainRun));
  const names = [...new Set([...manifests, ...weights].map((key) => posix.basename(key, '.json')))].sort();
  const { serving, before } = await readServing(store);
  const { conductor } = config;
  const needed = [
    ...request.needed,
    conductor.provider === 'policy' ? readCheckpointId(conductor.checkpoint ?? '') : null,
    ...(await pointsOfNights(store)),
    serving,
    ...before,
  ].filter((each) => each !== null);
  const held = { ...request, names, needed };
  const remaining = new Set(keptCheckpoints(held).map((name) => keys.weightsKey(trainRun, name)));
  const references = await referencesOf(
    files,
    (key) => remaining.has(key) || !key.startsWith(keys.weightsFolder(trainRun)),
  );
  const kept = keptCheckpoints({ ...held, needed: [...needed, ...references] });
  const now = new Date();
  for (const name of names) {
    if (kept.includes(name)) continue;
    await store.removeOlder(keys.checkpointManifestKey(trainRun, name), now);
    await files.removeOlder(keys.weightsKey(trainRun, name), now);
  }
  await sweepWeights(files);
  return { kept };
}

/** Returns where each run's next night begins, and where unfinished nights that are not overtaken stand and began. */
async function pointsOfNights(store: Store): Promise<CheckpointRef[]> {
  const points: (CheckpointRef | null | undefined)[] = [];
  const runs = new Map<string, RunRecord | null>();
  for await (const { key } of store.entries(keys.TRAINING_FOLDER)) {
    const record = keys.readRecordKey(key);
    if (record === null) continue;
    const { trainRun, date } = record;
    // Read before its nights: a night records a cycle before its run does, and so never looks overtaken.
    const run = runs.get(trainRun) ?? (await readTrainRun(store, trainRun));
    runs.set(trainRun, run);
    if (date === null) continue;
    const night = await readNight(store, trainRun, date);
    if (night?.closedAt === null && !isOvertaken(night, run)) points.push(night.checkpoint, night.begun);
  }
  for (const run of runs.values()) points.push(run?.checkpoint);
  return points.filter((point) => point !== null && point !== undefined);
}

/** Returns the checkpoints to which `trainer.loss.beta` pulls updates of those that remain, of any run. */
async function referencesOf(files: Files, remains: (key: string) => boolean): Promise<CheckpointRef[]> {
  const references: CheckpointRef[] = [];
  await eachWeights(files, (key, { record: { first } }) => {
    if (first && remains(key)) references.push(first);
  });
  return references;
}

export type Holdings = ForgetCheckpointsRequest & { readonly names: readonly string[] };

/** Returns the names to keep: needed ones, the last and every n-th cycle's, and all bases, which adapters need. */
export function keptCheckpoints({ trainRun, names, needed, keep }: Holdings): string[] {
  const ids = new Set(needed.map(checkpointId));
  const isCycle = (name: string): boolean => /^\d+$/.test(name);
  const cycles = names.filter(isCycle).sort();
  const last = new Set(cycles.slice(Math.max(0, cycles.length - keep.last)));
  return names.filter(
    (name) =>
      !isCycle(name) ||
      last.has(name) ||
      (keep.every !== null && Number(name) % keep.every === 0) ||
      ids.has(checkpointId({ trainRun, name })),
  );
}

/** Trainer's record of a checkpoint, see `checkpoint_cache.py`: only read and removed here, never written. */
const weightsSchema = z.object({
  schema: z.literal(1),
  record: z.object({
    /** Base, warm start or imitation from which updates began. */
    first: z.object({ trainRun: z.string(), name: z.string() }).nullish(),
  }),
  files: z.array(z.object({ path: z.string(), bytes: z.int(), sha256: z.string() })),
});

async function eachWeights(
  files: Files,
  look: (key: string, weights: z.infer<typeof weightsSchema>) => void,
): Promise<void> {
  await eachInParallel(files.entries(keys.TRAINING_FOLDER), async ({ key }) => {
    const weights = keys.isWeightsKey(key) ? await readRecord(files, key, weightsSchema) : null;
    if (weights !== null) look(key, weights);
  });
}

/** Bytes of a checkpoint's files; null if there is no such checkpoint. */
export async function sizeOfWeights(files: Files, { trainRun, name }: CheckpointRef): Promise<number | null> {
  const weights = await readRecord(files, keys.weightsKey(trainRun, name), weightsSchema);
  return weights?.files.reduce((sum, { bytes }) => sum + bytes, 0) ?? null;
}

/** Minimum age for removal: the trainer may still record files up to an hour old, within half an hour. */
const YOUNG_MS = 2 * 60 * 60 * 1000;

/** Removes weight files that no record names, and leftovers of killed writers; an unreadable record throws first. */
export async function sweepWeights(
  files: Files,
  { olderThanMs = 0, dryRun = false }: { readonly olderThanMs?: number; readonly dryRun?: boolean } = {},
): Promise<Swept> {
  const than = await timeAgo(files, Math.max(olderThanMs, YOUNG_MS));
  const named = new Set<string>();
  await eachWeights(files, (_, weights) => {
    for (const { sha256 } of weights.files)
      named.add(`${keys.WEIGHTS_FOLDER}${sha256.slice(0, 2)}/${sha256}`);
  });
  const isLive = (key: string): boolean => named.has(key);
  return sweep(files, [keys.WEIGHTS_FOLDER, keys.UNFINISHED_FOLDER], { than, isLive, dryRun });
}
