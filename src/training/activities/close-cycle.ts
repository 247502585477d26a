import type { Store } from '../../store/store';
import { checkpointId, type CheckpointRef } from '../ids';
import { COLLAPSE_CYCLES, findCollapse, summarizeCycle } from '../summarize-cycle';
import type { CloseCycleRequest } from '../contract';
import { metricsKey } from '../store-keys';
import { readServing, writeManifest } from '../policy/serving';
import { type CycleMetrics, cycleMetricsSchema, type NightRecord } from '../records';
import type { PublishSettings } from '../inputs';
import type { Checkpoint } from '../trainer-contract';
import {
  advanceRun,
  readGroups,
  readNight,
  readRecord,
  readRun,
  RecordError,
  writeNight,
  writeRecord,
} from './records';

/**
 * Activity `conductor.train.closeCycle`: sums a cycle up from its groups, keeps its metrics, and moves night and training
 * run forwards. A second attempt does the same.
 */
export async function closeCycle(store: Store, request: CloseCycleRequest): Promise<CycleMetrics> {
  const { settings, groups: keys, checkpoint, writer, ...figures } = request;
  const { trainRun } = settings;
  const { cycle, night } = figures;
  const groups = await readGroups(store, keys);
  const latest = {
    schema: 1 as const,
    trainRun,
    ...figures,
    checkpoint: checkpointId(checkpoint),
    at: new Date().toISOString(),
    ...summarizeCycle(groups),
  };
  const earlier = await readEarlier(store, trainRun, cycle);
  const metrics: CycleMetrics = { ...latest, collapse: findCollapse([...earlier, latest]) };
  await writeRecord(store, metricsKey(trainRun, cycle), metrics);
  const record = await readNight(store, trainRun, night);
  const run = await readRun(store, trainRun);
  // Only forwards: an attempt that was thought lost may still write when a later cycle is over.
  if (Math.max(record?.done ?? 0, run?.done ?? 0) <= cycle) {
    if (record !== null) await writeNight(store, { ...record, done: cycle, checkpoint });
    await advanceRun(store, { schema: 1, trainRun, done: cycle, checkpoint, writer });
  }
  return metrics;
}

/** The cycles before this one that tell whether its policy collapsed; one that cannot be read stops no night. */
async function readEarlier(store: Store, trainRun: string, cycle: number): Promise<CycleMetrics[]> {
  const first = Math.max(1, cycle + 1 - COLLAPSE_CYCLES);
  const numbers = Array.from({ length: cycle - first }, (_, index) => first + index);
  const read = numbers.map((each) =>
    readRecord(store, metricsKey(trainRun, each), cycleMetricsSchema).catch(() => null),
  );
  return (await Promise.all(read)).filter((each) => each !== null);
}

/** Activity `conductor.train.closeNight`: keeps what became of a night, and where the next one begins. */
export async function closeNight(
  store: Store,
  request: Pick<NightRecord, 'trainRun' | 'date' | 'done' | 'decision'> & {
    readonly checkpoint: CheckpointRef;
    /** Beginning of the next night; default: `checkpoint`. */
    readonly next?: CheckpointRef | null;
  },
): Promise<void> {
  const { next, ...ending } = request;
  const { trainRun, date, done, checkpoint } = ending;
  const night = await readNight(store, trainRun, date);
  if (night === null) {
    throw new RecordError(
      `night ${date} of ${trainRun} is not in the store ${store.url}: was it removed, or is it another store?`,
    );
  }
  // Only forwards, as in `closeCycle`.
  if (night.done > done) return;
  await writeNight(store, { ...night, ...ending, closedAt: new Date().toISOString() });
  await advanceRun(store, { schema: 1, trainRun, done, checkpoint: next ?? checkpoint });
}

/**
 * Activity `conductor.train.keepCheckpoint`: keeps how a checkpoint must be asked, which is how it was trained; from then
 * on it can be sampled and served. It returns what serves and what the next rollback would bring back, so that a policy server can forget the rest.
 */
export async function keepCheckpoint(
  store: Store,
  request: { readonly checkpoint: Checkpoint; readonly model: string; readonly settings: PublishSettings },
): Promise<readonly CheckpointRef[]> {
  const { policy, run } = request.settings;
  await writeManifest(store, {
    schema: 1,
    ...request.checkpoint,
    model: request.model,
    prompt: policy.prompt,
    chat: 'chatml',
    describe: policy.describe,
    maxSteps: run.limits.steps,
    trainedAtTemperature: policy.temperature,
    temperature: policy.servingTemperature,
    maxPromptTokens: policy.maxPromptTokens,
    maxOutputTokens: policy.maxOutputTokens,
    servers: [policy.baseUrl],
    createdAt: new Date().toISOString(),
  });
  const { serving, before } = await readServing(store);
  return [serving, before.at(-1) ?? null].filter((each) => each !== null);
}
