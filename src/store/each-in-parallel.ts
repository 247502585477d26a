import { Readable } from 'node:stream';

/** Enough to hide the way to a distant store or server, and few enough to be no burden to it. */
const AT_ONCE = 16;

/** Does one thing for each item as they come, some of them side by side. The first failure ends it. */
export async function eachInParallel<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  await Readable.from(items).forEach(work, { concurrency: AT_ONCE });
}
