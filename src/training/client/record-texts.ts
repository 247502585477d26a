import type { Store } from '../../store/store';
import { eachInParallel } from '../../store/sweep';
import { refsIn } from '../../store/texts';
import { TRAINING_FOLDER } from '../keys';

/** The texts that records of training refer to, e.g. the answers of rollouts whose runs the server has forgotten. */
export async function textsOfRecords(store: Store): Promise<Set<string>> {
  const refs = new Set<string>();
  await eachInParallel(store.entries(TRAINING_FOLDER), async ({ key }) => {
    const bytes = key.endsWith('.json') ? await store.read(key) : null;
    for (const ref of refsIn(bytes?.toString('utf8'))) refs.add(ref);
  });
  return refs;
}
