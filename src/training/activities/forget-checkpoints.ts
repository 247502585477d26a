import type { TrainableConfig } from '../config/schema';
import type { Store } from '../../store/store';
import type { ForgetCheckpointsRequest, RememberedCheckpoints } from '../contract';
import type { CheckpointRef } from '../input';
import { checkpointsFolder, manifestKey, readRecordKey, TRAINING_FOLDER } from '../keys';
import { checkpointId, readCheckpointId } from '../manifest';
import { readServing } from '../policy/serving';
import { isOvertaken, type RunRecord } from '../records';
import type { TrainingSettings } from '../settings';
import { readNight, readRun } from './records';

/**
 * Activity `conductor.train.forgetCheckpoints`: takes the manifests out of the store of checkpoints that nobody needs, and
 * tells which are left. It comes before their files are removed: whoever would promote one, or begin a night with it, is
 * told by then that there is none, and a collection that is killed halfway leaves nothing that is named and not there.
 *
 * Needed is what serves and all that a rollback may bring back, what this configuration's Conductor is fixed to, what any
 * night of any training run goes on from or began with, and what the request names.
 */
export async function forgetCheckpoints(
  { store, config }: { readonly store: Store; readonly config: Pick<TrainableConfig, 'conductor'> },
  { trainRun, needed, keep }: ForgetCheckpointsRequest,
): Promise<RememberedCheckpoints> {
  const folder = checkpointsFolder(trainRun);
  const keys = await store.list(folder);
  const names = keys.map((key) => key.slice(folder.length).replace(/\.json$/, ''));
  const kept = keptCheckpoints({
    trainRun,
    names,
    needed: [...needed, ...fixedBy(config), ...(await pointsOfNights(store)), ...(await served(store))],
    keep,
  });
  const stays = new Set(kept);
  const now = new Date();
  for (const name of names) {
    if (!stays.has(name)) await store.removeOlder(manifestKey(trainRun, name), now);
  }
  return { kept };
}

async function served(store: Store): Promise<CheckpointRef[]> {
  const { serving, before } = await readServing(store);
  return [serving, ...before].filter((each) => each !== null);
}

function fixedBy({ conductor }: Pick<TrainableConfig, 'conductor'>): CheckpointRef[] {
  const id = conductor.provider === 'policy' ? conductor.checkpoint : undefined;
  const fixed = id === undefined ? null : readCheckpointId(id);
  return fixed === null ? [] : [fixed];
}

/**
 * Checkpoints that nights stand on, over all training runs of a store: what the next night of each goes on from, and for
 * a night that is under way or was interrupted, where it stands and where it began. One that a later night has overtaken
 * never goes on from there.
 */
async function pointsOfNights(store: Store): Promise<CheckpointRef[]> {
  const points: (CheckpointRef | null | undefined)[] = [];
  const runs = new Map<string, RunRecord | null>();
  for await (const { key } of store.entries(TRAINING_FOLDER)) {
    const record = readRecordKey(key);
    if (record === null) continue;
    const { trainRun, date } = record;
    // Before its nights: one that is under way notes a cycle before its run does, and so never looks overtaken.
    const run = runs.get(trainRun) ?? (await readRun(store, trainRun));
    runs.set(trainRun, run);
    if (date === null) continue;
    const night = await readNight(store, trainRun, date);
    if (night?.closedAt === null && !isOvertaken(night, run)) points.push(night.checkpoint, night.begun);
  }
  for (const run of runs.values()) points.push(run?.checkpoint);
  return points.filter((point) => point !== null && point !== undefined);
}

/** The checkpoints of one training run, and what may need them. */
export interface Holdings {
  readonly trainRun: string;
  /** Of all its checkpoints that are known. */
  readonly names: readonly string[];
  /** Of any training run. */
  readonly needed: readonly CheckpointRef[];
  readonly keep: TrainingSettings['keep'];
}

/**
 * Names of the checkpoints that stay when the others go: whatever somebody needs, those of the last cycles and of each
 * n-th one, and all that no cycle made. A base or a warm start is what adapters are laid over, and begins a run anew.
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
