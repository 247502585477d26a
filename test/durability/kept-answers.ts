import type { KeptAnswer } from '../../src/store/ledger';
import type { Store } from '../../src';

/** Returns the workers of the answers in a store, sorted. */
export async function keptAnswers(store: Store): Promise<string[]> {
  const keys = await store.list('answers/');
  const kept = await Promise.all(keys.map((key) => store.read(key)));
  return kept.flatMap((bytes) => (bytes === null ? [] : [workerOf(bytes)])).sort();
}

function workerOf(bytes: Buffer): string {
  return (JSON.parse(bytes.toString('utf8')) as KeptAnswer).row.worker;
}
