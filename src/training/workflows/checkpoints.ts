import { isCancellation, log } from '@temporalio/workflow';
import type { OpenedNight } from '../contract';
import type { ExportInput, PublishSettings, WarmStartInput } from '../inputs';
import * as names from '../names';
import { checkpointId, type CheckpointRef } from '../names';
import type { Checkpoint, ExportResult } from '../trainer-contract';
import { requireValidInput, trainingStoreActivities, trainerActivities } from './activities';
import type { Night } from './night';
import { rootFailure } from './nightly';

type FirstCheckpoint = Pick<OpenedNight, 'from' | 'init' | 'warmStart'> & Pick<WarmStartInput, 'settings'>;

/** Returns the run's last checkpoint, or has the trainer make a first one from the base model and any examples. */
export async function firstCheckpoint(opened: FirstCheckpoint): Promise<CheckpointRef> {
  const { from, init, warmStart, settings } = opened;
  if (from !== null) return from;
  const { wallClockMs } = settings.budget;
  let { checkpoint } = await trainerActivities('make the base', settings, wallClockMs)[names.INIT](init);
  if (warmStart !== null) {
    const trainer = trainerActivities('warm start', settings, wallClockMs);
    ({ checkpoint } = await trainer[names.WARM_START](warmStart));
  }
  await publish(settings, checkpoint, wallClockMs);
  return refOf(checkpoint);
}

/** Has the trainer check whether it has memory and disk space for the night, and whether its policy server is right. */
export async function requireTrainer(
  opened: Pick<OpenedNight, 'settings' | 'init' | 'night' | 'done' | 'prompts'>,
  checkpoint: CheckpointRef,
): Promise<void> {
  const { settings, init, night, done, prompts } = opened;
  const { config } = init;
  const trainer = trainerActivities('can it be trained?', settings, settings.budget.wallClockMs);
  const servers = [settings.policy.baseUrl];
  await trainer[names.PREFLIGHT]({ checkpoint, config, cycles: night.last - done, servers, prompts });
}

export async function publish(
  settings: PublishSettings,
  checkpoint: Checkpoint,
  remainingMs: number,
): Promise<readonly CheckpointRef[]> {
  const { baseUrl, patienceMs } = settings.policy;
  // The trainer made the checkpoint, so only the policy server may be unavailable.
  const patience = Math.min(remainingMs, patienceMs);
  const { model, chat } = await trainerActivities(`publish ${checkpoint.name}`, settings, patience)[
    names.PUBLISH
  ]({
    checkpoint: refOf(checkpoint),
    servers: [baseUrl],
    tolerance: settings.tolerance.probe,
  });
  return trainingStoreActivities(`keep ${checkpoint.name}`)[names.KEEP_CHECKPOINT]({
    checkpoint,
    model,
    chat,
    settings,
  });
}

export function refOf({ trainRun, name }: Checkpoint): CheckpointRef {
  return { trainRun, name };
}

/** Has the policy server unload the run's checkpoints, except those that the night needs and those in `served`. */
export function retireCheckpoints(
  night: Night,
  checkpoint: CheckpointRef,
  served: readonly CheckpointRef[],
): Promise<void> {
  const { settings } = night.state.opened;
  const { trainRun, policy } = settings;
  const needed = [...night.neededWith(checkpoint), ...served].filter((each) => each.trainRun === trainRun);
  const keep = [...new Set(needed.map(({ name }) => name))];
  return unlessItFails(night, 'old checkpoints were not unloaded from the policy server', async () => {
    const trainer = trainerActivities('retire old checkpoints', settings, DISPENSABLE_MS);
    await trainer[names.RETIRE]({ trainRun, keep, servers: [policy.baseUrl] });
  });
}

export function collectCheckpoints(night: Night): Promise<void> {
  const { settings } = night.state.opened;
  const { trainRun, keep } = settings;
  const needed = night.neededWith(night.state.checkpoint);
  return unlessItFails(night, "old checkpoints were left on the trainer's disk", async () => {
    const store = trainingStoreActivities('forget old checkpoints');
    const { kept } = await store[names.FORGET_CHECKPOINTS]({ trainRun, needed, keep });
    const trainer = trainerActivities('collect old checkpoints', settings, DISPENSABLE_MS);
    await trainer[names.COLLECT]({ trainRun, keep: [...kept] });
  });
}

/** Timeout for clean-up: long enough to start a trainer; the next night does what is left undone. */
const DISPENSABLE_MS = 2 * 60_000;

/** Turns a failure into a warning. A cancellation is left to the night's next step. */
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

/** Workflow `conductorWarmStart`: makes a first checkpoint from examples, or returns that of equal input. */
export async function conductorWarmStart(input: WarmStartInput): Promise<CheckpointRef> {
  await requireValidInput({ workflow: names.WARM_START_WORKFLOW, input });
  return firstCheckpoint({ ...input, from: null });
}

/** Workflow `conductorExportCheckpoint`: has the trainer write a checkpoint as a whole model, adapters merged. */
export async function conductorExportCheckpoint(input: ExportInput): Promise<ExportResult> {
  await requireValidInput({ workflow: names.EXPORT_WORKFLOW, input });
  const { checkpoint, directory, taskQueue, heartbeatMs, timeoutMs } = input;
  const settings = { trainer: { taskQueue }, run: { heartbeatMs } };
  const trainer = trainerActivities(`export ${checkpointId(checkpoint)}`, settings, timeoutMs);
  return trainer[names.EXPORT]({ checkpoint, directory });
}
