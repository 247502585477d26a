import type { Store } from '../../store/store';
import type { CloseNightRequest } from '../../training/activities';
import { readNight, readRun, writeNight, writeRun } from './records';

/** Activity `conductor.train.closeNight`: keeps what a night came to, what the gate said, and where the next one begins. */
export async function closeNight(
  { store }: { readonly store: Store },
  { trainRun, date, done, checkpoint, decision }: CloseNightRequest,
): Promise<void> {
  const night = await readNight(store, trainRun, date);
  if (night === null) {
    throw new Error(
      `night ${date} of ${trainRun} is not in the store ${store.url}: was it removed, or is it another store?`,
    );
  }
  await writeNight(store, { ...night, done, checkpoint, closedAt: new Date().toISOString(), decision });
  const run = await readRun(store, trainRun);
  await writeRun(store, { schema: 1, trainRun, done: Math.max(run?.done ?? 0, done), checkpoint });
}
