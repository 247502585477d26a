import type { Store } from '../../store/store';
import type { CloseCycleRequest } from '../../training/activities';
import { checkpointId } from '../../training/manifest';
import { metricsKey } from '../../training/keys';
import type { CycleMetrics } from '../../training/progress';
import { summarizeCycle } from '../../training/summarize-cycle';
import { readGroup } from './groups';
import { readNight, readRun, writeNight, writeRun } from './records';

/**
 * Activity `conductor.train.closeCycle`: sums a cycle up from its groups, keeps the line of figures, and lets night and
 * training run stand where the cycle has brought them. Once more, it does the same.
 */
export async function closeCycle(
  { store }: { readonly store: Store },
  request: CloseCycleRequest,
): Promise<CycleMetrics> {
  const { cycle, night, checkpoint, settings, weightsSha256, dropped, update, times, heldOut } = request;
  const { trainRun } = settings;
  const groups = await Promise.all(request.groups.map((key) => readGroup(store, key)));
  const metrics: CycleMetrics = {
    schema: 1,
    trainRun,
    cycle,
    night,
    checkpoint: checkpointId(checkpoint),
    weightsSha256,
    at: new Date().toISOString(),
    ...summarizeCycle(groups),
    dropped,
    update,
    times,
    heldOut,
  };
  await store.write(metricsKey(trainRun, cycle), Buffer.from(JSON.stringify(metrics)));
  await advance(store, request);
  return metrics;
}

/** Only forwards: an attempt that was thought lost may still write when a later cycle is over. */
async function advance(
  store: Store,
  { settings: { trainRun }, night: date, cycle, checkpoint }: CloseCycleRequest,
): Promise<void> {
  const night = await readNight(store, trainRun, date);
  const run = await readRun(store, trainRun);
  if (night === null || Math.max(night.done, run?.done ?? 0) > cycle) return;
  await writeNight(store, { ...night, done: cycle, checkpoint });
  await writeRun(store, { schema: 1, trainRun, done: cycle, checkpoint });
}
