import { Readable } from 'node:stream';
import type { Store, StoredEntry } from './store';

export interface Tally {
  readonly count: number;
  readonly bytes: number;
}

/** Old entries that were removed, and those that were kept. */
export interface Swept {
  readonly removed: Tally;
  readonly live: Tally;
}

/**
 * Removes from folders of a store what was written before a time and is not live. A dry run only counts.
 *
 * Entries written while it runs stay: its age is looked at once more right before the removal (see `removeOlder` of
 * each driver).
 */
export async function sweep(
  store: Pick<Store, 'entries' | 'removeOlder'>,
  folders: readonly string[],
  { than, isLive, dryRun }: { than: Date; isLive: (key: string) => boolean; dryRun: boolean },
): Promise<Swept> {
  const removed = { count: 0, bytes: 0 };
  const live = { count: 0, bytes: 0 };
  const look = async ({ key, bytes, modifiedAt }: StoredEntry): Promise<void> => {
    if (modifiedAt >= than) return;
    const kept = isLive(key);
    const amount = kept || dryRun ? bytes : await store.removeOlder(key, than);
    if (!kept && amount === 0) return;
    const tally = kept ? live : removed;
    tally.count += 1;
    tally.bytes += amount;
  };
  for (const folder of folders) await eachInParallel(store.entries(folder), look);
  return { removed, live };
}

/** Enough to hide the latency of a distant store or server, and few enough to be no burden to it. */
const AT_ONCE = 16;

/** Does one thing for each item as it comes, 16 at a time. The first failure ends it. */
export async function eachInParallel<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  await Readable.from(items).forEach(work, { concurrency: AT_ONCE });
}
