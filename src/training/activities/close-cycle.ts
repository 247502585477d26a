import { writeRecord } from '../../store/records';
import type { Store } from '../../store/store';
import type { TrainingSettings } from '../config/resolve';
import { promptSettingsSchema, type PublishSettings } from '../inputs';
import { checkpointId, type CheckpointRef } from '../names';
import { readServing, writeManifest } from '../policy/serving';
import type { CycleMetrics, NightRecord } from '../records';
import { metricsKey } from '../store-keys';
import { COLLAPSE_CYCLES, findCollapse, summarizeCycle } from '../summarize-cycle';
import type { Chat, Checkpoint } from '../trainer-contract';
import type { CycleHours } from './cycle-spans';
import * as records from './records';

export interface CloseCycleRequest extends Pick<
  CycleMetrics,
  'night' | 'cycle' | 'weightsSha256' | 'dropped' | 'update' | 'imitation' | 'times' | 'heldOut'
> {
  /** Checkpoint that the cycle made, or that it began with if it learned nothing. */
  readonly checkpoint: CheckpointRef;
  /** Checkpoint that samples the next cycle's plans; null: `checkpoint`. */
  readonly writer: CheckpointRef | null;
  readonly settings: TrainingSettings;
  /** Store keys of all groups, dropped ones included. */
  readonly groups: readonly string[];
  /** Absent in the histories of earlier nights. */
  readonly hours?: CycleHours;
}

/** Activity `conductor.train.closeCycle`: stores a cycle's metrics and moves night and run forwards; repeatable. */
export async function closeCycle(
  store: Store,
  request: Omit<CloseCycleRequest, 'hours'>,
): Promise<CycleMetrics> {
  const { settings, groups: keys, checkpoint, writer, ...figures } = request;
  const { trainRun } = settings;
  const { cycle, night } = figures;
  const latest = {
    schema: 1 as const,
    trainRun,
    ...figures,
    checkpoint: checkpointId(checkpoint),
    at: new Date().toISOString(),
    ...summarizeCycle(await records.readGroups(store, keys)),
  };
  const earlier = await readEarlier(store, trainRun, cycle);
  const metrics: CycleMetrics = { ...latest, collapse: findCollapse([...earlier, latest]) };
  await writeRecord(store, metricsKey(trainRun, cycle), metrics);
  const record = await records.readNight(store, trainRun, night);
  const run = await records.readTrainRun(store, trainRun);
  // Only forwards: a timed-out attempt may still write after a later cycle is over.
  if (Math.max(record?.done ?? 0, run?.done ?? 0) <= cycle) {
    if (record !== null) await records.writeNight(store, { ...record, done: cycle, checkpoint });
    await records.advanceRun(store, { schema: 1, trainRun, done: cycle, checkpoint, writer });
  }
  return metrics;
}

/** Reads the earlier cycles that help to detect a collapse, without those that cannot be read. */
async function readEarlier(store: Store, trainRun: string, cycle: number): Promise<CycleMetrics[]> {
  const first = Math.max(1, cycle + 1 - COLLAPSE_CYCLES);
  const read = Array.from({ length: cycle - first }, (_, index) =>
    records.readCycle(store, trainRun, first + index).catch(() => null),
  );
  return (await Promise.all(read)).filter((each) => each !== null);
}

type Ending = Pick<NightRecord, 'trainRun' | 'date' | 'done' | 'decision'>;

/** Activity `conductor.train.closeNight`: stores a night's outcome and where the next one begins, if elsewhere. */
export async function closeNight(
  store: Store,
  request: Ending & { readonly checkpoint: CheckpointRef; readonly next?: CheckpointRef | null },
): Promise<void> {
  const { next, ...ending } = request;
  const { trainRun, date, done, checkpoint } = ending;
  const read = await records.readNight(store, trainRun, date);
  const night = records.present(read, `night ${date} of ${trainRun}`, store);
  if (night.done > done) return;
  await records.writeNight(store, { ...night, ...ending, closedAt: new Date().toISOString() });
  await records.advanceRun(store, { schema: 1, trainRun, done, checkpoint: next ?? checkpoint });
}

/**
 * Activity `conductor.train.keepCheckpoint`: stores how a checkpoint must be asked. Returns what serves and what the
 * next rollback would restore, so that a policy server can unload the rest.
 */
export async function keepCheckpoint(
  store: Store,
  request: {
    readonly checkpoint: Checkpoint;
    readonly model: string;
    /** Absent for one that an earlier version made. */
    readonly chat?: Chat | undefined;
    readonly settings: PublishSettings;
  },
): Promise<readonly CheckpointRef[]> {
  const { model, chat, settings } = request;
  const { policy, run } = settings;
  await writeManifest(store, {
    schema: 1,
    ...request.checkpoint,
    model,
    chat: chat ?? 'chatml',
    ...promptSettingsSchema.parse(policy),
    maxSteps: run.limits.steps,
    trainedAtTemperature: policy.temperature,
    temperature: policy.servingTemperature,
    servers: [policy.baseUrl],
    createdAt: new Date().toISOString(),
  });
  const { serving, before } = await readServing(store);
  return [serving, before.at(-1) ?? null].filter((each) => each !== null);
}
