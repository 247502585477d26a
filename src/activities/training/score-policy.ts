import { ApplicationFailure } from '@temporalio/common';
import { FAILURES } from '../../protocol/failures';
import type { Store } from '../../store/store';
import { groupRecordSchema } from '../../training/group-record-schema';
import type { Tried } from '../../training/evaluation';
import type { GroupRecord } from '../../training/rollout';
import { scoreQuestions, type ScoredPolicy } from '../../training/score';

/**
 * What a policy came to on the questions that it was tried on, from its groups as they were kept.
 *
 * @throws ApplicationFailure `Store.NotFound`, not retryable, that names a group which is gone or cannot be read
 */
export async function scorePolicy(store: Store, { policy, groups }: Tried): Promise<ScoredPolicy> {
  const records = await Promise.all(groups.map((key) => readGroup(store, key)));
  return { policy, scores: scoreQuestions(records) };
}

async function readGroup(store: Store, key: string): Promise<GroupRecord> {
  const bytes = await store.read(key);
  if (bytes === null)
    throw lost(`group ${key} is not in the store ${store.url}: was it removed, or is it another store?`);
  const { success, data, error } = groupRecordSchema.safeParse(JSON.parse(bytes.toString('utf8')));
  if (success) return data;
  const place = error.issues[0]?.path.join('.') ?? '';
  throw lost(
    `group ${key} in the store ${store.url} cannot be read at ${place}: it is of another version of this package`,
  );
}

function lost(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, FAILURES.textNotFound);
}
