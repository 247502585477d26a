import { CancellationScope } from '@temporalio/workflow';
import type { BookedCall } from '../../protocol/activity-contract';
import { BOOK_CALL } from '../../protocol/names';
import type { Call } from '../../protocol/solve';
import { storeActivities } from '../activities';
import { now } from '../failures';

/**
 * Opens the ledger row of a call that the workflow makes by itself, with the most that it may cost. Returns what
 * completes it; a row that cannot be completed stays open.
 */
export async function openRow(
  { rootId, storeId }: Pick<BookedCall, 'rootId' | 'storeId'>,
  opened: Call,
): Promise<(ended: Call) => Promise<void>> {
  const startedAt = now();
  const book = (call: Call, endedAt: string | null): Promise<void> =>
    storeActivities(`book the call of ${opened.purpose === 'tool' ? opened.model : opened.worker}`)[
      BOOK_CALL
    ]({
      rootId,
      call,
      startedAt,
      endedAt,
      storeId,
    });
  await book(opened, null);
  return (ended) => CancellationScope.nonCancellable(() => book(ended, now()).catch(() => undefined));
}
