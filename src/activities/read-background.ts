import type { GivenText } from '../plan/worker-prompt';
import type { Background } from '../protocol/parent';
import type { Store } from '../store/store';
import { readText } from '../store/texts';

/** What everybody in a solve may see, whole. */
export function readBackground(store: Store, background: readonly Background[]): Promise<GivenText[]> {
  return Promise.all(
    background.map(async ({ subtask, output }) => ({ subtask, output: await readText(store, output) })),
  );
}
