import type { Config } from '../../pool/config-schema';
import { readServing } from '../../policy/serving';
import type { Store } from '../../store/store';
import type { ForgetCheckpointsRequest, RememberedCheckpoints } from '../../training/activities';
import { readCheckpointId } from '../../training/checkpoint-id';
import { keptCheckpoints } from '../../training/kept-checkpoints';
import { checkpointsFolder, manifestKey } from '../../training/keys';
import type { CheckpointRef } from '../../training/train-input';
import { pointsOfNights } from './points-of-nights';

/**
 * Activity `conductor.train.forgetCheckpoints`: takes the manifests out of the store of checkpoints that nobody needs, and
 * tells which are left. It comes before their files are removed: whoever would promote one, or begin a night with it, is
 * told by then that there is none, and a collection that is killed halfway leaves nothing that is named and not there.
 *
 * Needed is what serves and all that a rollback may bring back, what this configuration's Conductor is fixed to, what any
 * night of any training run goes on from or began with, and what the request names.
 */
export async function forgetCheckpoints(
  { store, config }: { readonly store: Store; readonly config: Pick<Config, 'conductor'> },
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

function fixedBy({ conductor }: Pick<Config, 'conductor'>): CheckpointRef[] {
  const id = conductor.provider === 'policy' ? conductor.checkpoint : undefined;
  const fixed = id === undefined ? null : readCheckpointId(id);
  return fixed === null ? [] : [fixed];
}
