import { posix } from 'node:path';
import type { Store } from '../../store/store';
import { openFiles } from '../artifacts/open';
import { checkpointId, type CheckpointRef, readCheckpointId } from '../checkpoint-ref';
import { trainingOf } from '../config/resolve';
import type { TrainableConfig } from '../config/schema';
import type { ForgetCheckpointsRequest } from '../contract';
import {
  checkpointsFolder,
  manifestKey,
  readRecordKey,
  TRAINING_FOLDER,
  weightsFolder,
  weightsKey,
} from '../store-keys';
import { readServing } from '../policy/serving';
import { isOvertaken, type RunRecord } from '../records';
import { sweepWeights } from './weights';
import { readNight, readRun } from './records';

/**
 * Activity `conductor.train.forgetCheckpoints`: removes the checkpoints that no one needs, and returns which are left.
 * Manifests go first, then what names their files, then the files that no other checkpoint has, so that nothing ever
 * names what is gone.
 *
 * Needed is what serves and all that a rollback may bring back, what this configuration's Conductor is fixed to, what any
 * night of any training run goes on from or began with, and what the request names.
 */
export async function forgetCheckpoints(
  { store, config }: { readonly store: Store; readonly config: TrainableConfig },
  request: ForgetCheckpointsRequest,
): Promise<{ readonly kept: readonly string[] }> {
  const { trainRun } = request;
  const files = openFiles(trainingOf(config).artifacts);
  const folders = [store.list(checkpointsFolder(trainRun)), files.list(weightsFolder(trainRun))];
  // Those that were never published among them.
  const names = namesOf((await Promise.all(folders)).flat());
  const { serving, before } = await readServing(store);
  const { conductor } = config;
  const needed = [
    ...request.needed,
    conductor.provider === 'policy' ? readCheckpointId(conductor.checkpoint ?? '') : null,
    ...(await pointsOfNights(store)),
    serving,
    ...before,
  ].filter((each) => each !== null);
  const kept = keptCheckpoints({ ...request, names, needed });
  const now = new Date();
  for (const name of names) {
    if (kept.includes(name)) continue;
    await store.removeOlder(manifestKey(trainRun, name), now);
    await files.removeOlder(weightsKey(trainRun, name), now);
  }
  await sweepWeights(files);
  return { kept };
}

function namesOf(keys: readonly string[]): string[] {
  return [...new Set(keys.map((key) => posix.basename(key, '.json')))].sort();
}

/**
 * Over all training runs of a store: what the next night of each goes on from, and where an unfinished night stands and
 * began, unless a later one has overtaken it.
 */
async function pointsOfNights(store: Store): Promise<CheckpointRef[]> {
  const points: (CheckpointRef | null | undefined)[] = [];
  const runs = new Map<string, RunRecord | null>();
  for await (const { key } of store.entries(TRAINING_FOLDER)) {
    const record = readRecordKey(key);
    if (record === null) continue;
    const { trainRun, date } = record;
    // Before its nights: a night records a cycle before its run does, and so never looks overtaken.
    const run = runs.get(trainRun) ?? (await readRun(store, trainRun));
    runs.set(trainRun, run);
    if (date === null) continue;
    const night = await readNight(store, trainRun, date);
    if (night?.closedAt === null && !isOvertaken(night, run)) points.push(night.checkpoint, night.begun);
  }
  for (const run of runs.values()) points.push(run?.checkpoint);
  return points.filter((point) => point !== null && point !== undefined);
}

export type Holdings = ForgetCheckpointsRequest & { readonly names: readonly string[] };

/**
 * Names of the checkpoints that stay: those needed, those of the last cycles and of each n-th one, and all that no cycle
 * made, since a base or a warm start is what adapters are laid over.
 */
export function keptCheckpoints({ trainRun, names, needed, keep }: Holdings): string[] {
  const ids = new Set(needed.map(checkpointId));
  const cycles = names.filter(isCycle).sort((one, other) => Number(one) - Number(other));
  const last = new Set(cycles.slice(Math.max(0, cycles.length - keep.last)));
  return names.filter(
    (name) =>
      !isCycle(name) ||
      last.has(name) ||
      (keep.every !== null && Number(name) % keep.every === 0) ||
      ids.has(checkpointId({ trainRun, name })),
  );
}

function isCycle(name: string): boolean {
  return /^\d+$/.test(name);
}
