import { ApplicationFailure } from '@temporalio/common';
import { readJson } from '../../policy/read-json';
import { FAILURES } from '../../protocol/failures';
import type { Store } from '../../store/store';
import { readCheckpointId } from '../../training/checkpoint-id';
import { groupRecordSchema } from '../../training/group-record-schema';
import { groupKey, trialKey } from '../../training/keys';
import type { GroupRecord } from '../../training/rollout';

/** Activity `conductor.train.keepGroup`: keeps what became of a group, and says where. */
export async function keepGroup({ store }: { readonly store: Store }, group: GroupRecord): Promise<string> {
  const key = keyOf(group);
  await store.write(key, Buffer.from(JSON.stringify(group)));
  return key;
}

/**
 * A group as it was kept.
 *
 * @throws ApplicationFailure `Store.NotFound`, not retryable, that names a group which is gone or cannot be read
 */
export async function readGroup(store: Store, key: string): Promise<GroupRecord> {
  const bytes = await store.read(key);
  if (bytes === null) {
    throw lost(`group ${key} is not in the store ${store.url}: was it removed, or is it another store?`);
  }
  const { success, data, error } = groupRecordSchema.safeParse(readJson(bytes.toString('utf8')));
  if (success) return data;
  throw lost(
    `group ${key} in the store ${store.url} cannot be read at ${error.issues[0]?.path.join('.') ?? ''}: it is of ` +
      'another version of this package, or was altered',
  );
}

function keyOf(group: GroupRecord): string {
  const { purpose, trainRun, cycle, draw, round, checkpoint } = group;
  if (purpose === 'training') return groupKey(trainRun, cycle, draw, round);
  return trialKey({ ...group, checkpoint: readCheckpointId(checkpoint) });
}

function lost(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, FAILURES.textNotFound);
}
