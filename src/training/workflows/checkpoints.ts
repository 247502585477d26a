import { isCancellation, log } from '@temporalio/workflow';
import { checkpointId, type CheckpointRef } from '../checkpoint-ref';
import type { ExportInput, KeptCheckpoint } from '../contract';
import {
  COLLECT,
  EXPORT,
  EXPORT_WORKFLOW,
  FORGET_CHECKPOINTS,
  KEEP_CHECKPOINT,
  PUBLISH,
  RETIRE,
} from '../names';
import type { PublishSettings } from '../settings';
import type { Checkpoint, ExportResult } from '../trainer-contract';
import {
  checkNamed,
  storeActivities,
  trainerActivities,
  type TrainerCallOptions,
  trainerOptions,
} from './activities';
import { checkExport } from './input';
import type { Night } from './night';
import { rootFailure } from './nightly';

/** Has the policy server load a checkpoint, checks its weights there, and keeps how it must be asked. */
export async function publish(
  settings: PublishSettings,
  checkpoint: Checkpoint,
  options: TrainerCallOptions,
): Promise<KeptCheckpoint> {
  const { baseUrl, patienceMs } = settings.policy;
  // The trainer made the checkpoint, so only the policy server may be away.
  const remainingMs = Math.min(options.remainingMs, patienceMs);
  const trainer = trainerActivities(`publish ${checkpoint.name}`, { ...options, remainingMs });
  const { model } = await trainer[PUBLISH]({
    checkpoint: refOf(checkpoint),
    servers: [baseUrl],
    tolerance: settings.tolerance.probe,
  });
  return storeActivities(`keep ${checkpoint.name}`)[KEEP_CHECKPOINT]({ checkpoint, model, settings });
}

export function refOf({ trainRun, name }: Checkpoint): CheckpointRef {
  return { trainRun, name };
}

/** Has the policy server forget the run's checkpoints, all but those the night needs and those `served` beside it. */
export function retireCheckpoints(
  night: Night,
  checkpoint: CheckpointRef,
  served: readonly CheckpointRef[],
): Promise<void> {
  const { trainRun, policy } = night.state.opened.settings;
  const needed = [...night.neededWith(checkpoint), ...served].filter((each) => each.trainRun === trainRun);
  const keep = [...new Set(needed.map(({ name }) => name))];
  const servers = [policy.baseUrl];
  return unlessItFails(night, 'the policy server was not rid of old checkpoints', async () => {
    await trainerOf(night, 'retire old checkpoints')[RETIRE]({ trainRun, keep, servers });
  });
}

/** Removes the training run's checkpoints from the trainer's disk, all but those that may still be needed. */
export function collectCheckpoints(night: Night): Promise<void> {
  const { trainRun, keep } = night.state.opened.settings;
  const needed = night.neededWith(night.state.checkpoint);
  return unlessItFails(night, "old checkpoints were left on the trainer's disk", async () => {
    const store = storeActivities('forget old checkpoints');
    const { kept } = await store[FORGET_CHECKPOINTS]({ trainRun, needed, keep });
    await trainerOf(night, 'collect old checkpoints')[COLLECT]({ trainRun, keep: [...kept] });
  });
}

/** Long enough to start a trainer; what is left undone, the next night does. */
const DISPENSABLE_MS = 2 * 60_000;

function trainerOf(night: Night, summary: string): ReturnType<typeof trainerActivities> {
  return trainerActivities(summary, trainerOptions(night.state.opened.settings, DISPENSABLE_MS));
}

/** Turns a failure into a warning. A cancellation is noticed by what the night does next. */
async function unlessItFails(night: Night, loss: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isCancellation(error)) return;
    const warning = `${loss}: ${rootFailure(error).message}`;
    log.warn(warning);
    night.warn(warning);
  }
}

/** Workflow `conductorExportCheckpoint`: has the trainer write a checkpoint as a whole model, adapters merged. */
export async function conductorExportCheckpoint(input: ExportInput): Promise<ExportResult> {
  checkExport(EXPORT_WORKFLOW, input);
  const { checkpoint, directory, timeoutMs, ...options } = input;
  await checkNamed({ trainerQueue: options.taskQueue });
  const summary = `export ${checkpointId(checkpoint)}`;
  const trainer = trainerActivities(summary, { ...options, remainingMs: timeoutMs });
  return trainer[EXPORT]({ checkpoint, directory });
}
