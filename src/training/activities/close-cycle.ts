import type { Store } from '../../store/store';
import type {
  CloseCycleRequest,
  CloseNightRequest,
  KeepCheckpointRequest,
  KeptCheckpoint,
} from '../contract';
import { metricsKey } from '../keys';
import { type Manifest } from '../manifest';
import { readServing, writeManifest } from '../policy/serving';
import type { CycleMetrics } from '../progress';
import { summarizeCycle } from '../summarize-cycle';
import { readGroup, readNight, readRun, writeNight, writeRecord, writeRun } from './records';
import { checkpointId } from '../checkpoint-ref';

/**
 * Activity `conductor.train.closeCycle`: sums a cycle up from its groups, keeps the line of figures, and moves night and
 * training run to where the cycle has brought them. A second attempt does the same.
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
  await writeRecord(store, metricsKey(trainRun, cycle), metrics);
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

/**
 * Activity `conductor.train.keepCheckpoint`: keeps how a checkpoint must be asked, which is how its plans were sampled
 * while it was trained. From here on it can be sampled and served. It returns what is served beside it, so that a policy
 * server can be made to forget all else.
 */
export async function keepCheckpoint(
  { store }: { readonly store: Store },
  { checkpoint, model, settings }: KeepCheckpointRequest,
): Promise<KeptCheckpoint> {
  const { policy, run } = settings;
  const manifest: Manifest = {
    schema: 1,
    ...checkpoint,
    model,
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
  };
  await writeManifest(store, manifest);
  const { serving, before } = await readServing(store);
  return { served: [serving, before.at(-1) ?? null].filter((each) => each !== null) };
}
