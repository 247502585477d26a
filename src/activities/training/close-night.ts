import type { Store } from '../../store/store';
import type { CloseNightRequest } from '../../training/activities';
import { claimedAfter } from '../../training/claim-night';
import { readNight, readRun, writeNight, writeRun } from './records';

/**
 * Activity `conductor.train.closeNight`: keeps what a night came to and what the gate said, and gives the cycles back
 * that it claimed and left.
 */
export async function closeNight(
  { store }: { readonly store: Store },
  { trainRun, date, done, checkpoint, decision }: CloseNightRequest,
): Promise<void> {
  const night = await readNight(store, trainRun, date);
  const run = await readRun(store, trainRun);
  if (night === null || run === null) {
    throw new Error(
      `night ${date} of ${trainRun} is not in the store ${store.url}: was it removed, or is it another store?`,
    );
  }
  const closed = { ...night, done, checkpoint, closedAt: new Date().toISOString(), decision };
  await writeNight(store, closed);
  await writeRun(store, { ...run, claimed: claimedAfter(run, closed), checkpoint });
}
