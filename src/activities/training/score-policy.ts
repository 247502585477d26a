import type { Store } from '../../store/store';
import type { Tried } from '../../training/evaluation';
import { scoreQuestions, type ScoredPolicy } from '../../training/score';
import { readGroup } from './groups';

/**
 * What a policy came to on the questions that it was tried on, from its groups as they were kept.
 *
 * @throws ApplicationFailure `Store.NotFound`, not retryable, that names a group which is gone or cannot be read
 */
export async function scorePolicy(store: Store, { policy, groups }: Tried): Promise<ScoredPolicy> {
  const records = await Promise.all(groups.map((key) => readGroup(store, key)));
  return { policy, scores: scoreQuestions(records) };
}
