import { isCancellation, log } from '@temporalio/workflow';
import type { ExportInput } from '../contract';
import { COLLECT, EXPORT, FORGET_CHECKPOINTS, RETIRE } from '../names';
import type { ExportResult } from '../trainer-contract';
import { storeActivities, trainerActivities, trainerOptions } from './activities';
import type { Night } from './night';
import { rootFailure } from './nightly';
import type { CheckpointRef } from '../checkpoint-ref';

// What the trainer does with checkpoints beside the loop: it forgets old ones, and writes one out for a person.

/**
 * Has the policy server forget the training run's checkpoints, all but those that are asked for.
 *
 * @param checkpoint what the night has just come to
 * @param served what is asked for beside the night
 */
export function retireCheckpoints(
  night: Night,
  checkpoint: CheckpointRef,
  served: readonly CheckpointRef[],
): Promise<void> {
  const { trainRun, policy } = night.opened.settings;
  const needed = [...night.neededWith(checkpoint), ...served].filter((each) => each.trainRun === trainRun);
  const keep = [...new Set(needed.map(({ name }) => name))];
  const servers = [policy.baseUrl];
  return unlessItFails(night, 'the policy server was not rid of old checkpoints', async () => {
    await trainerOf(night, 'retire old checkpoints')[RETIRE]({ trainRun, keep, servers });
  });
}

/** Removes the training run's checkpoints from the trainer's disk, all but those that may be needed. */
export function collectCheckpoints(night: Night): Promise<void> {
  const { trainRun, keep } = night.opened.settings;
  const needed = night.neededWith(night.checkpoint);
  return unlessItFails(night, "old checkpoints were left on the trainer's disk", async () => {
    const store = storeActivities('forget old checkpoints');
    const { kept } = await store[FORGET_CHECKPOINTS]({ trainRun, needed, keep });
    await trainerOf(night, 'collect old checkpoints')[COLLECT]({ trainRun, keep: [...kept] });
  });
}

/** A trainer that is away is waited for as long as it takes to start one: what is left undone, the next night does. */
const DISPENSABLE_MS = 2 * 60_000;

function trainerOf(night: Night, summary: string): ReturnType<typeof trainerActivities> {
  return trainerActivities(summary, trainerOptions(night.opened.settings, DISPENSABLE_MS));
}

/**
 * What was learned matters more than what is left lying about: a failure becomes a warning. A cancellation is noticed by
 * whatever the night does next.
 */
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

/**
 * Workflow `conductorExportCheckpoint`: has the trainer write a checkpoint as a model of its own, adapters merged, with
 * tokenizer, chat template and model card.
 *
 * @throws ApplicationFailure of a `Trainer.*` type
 */
export function conductorExportCheckpoint(input: ExportInput): Promise<ExportResult> {
  const { checkpoint, directory, taskQueue, heartbeatMs, timeoutMs } = input;
  const options = { taskQueue, heartbeatMs, remainingMs: timeoutMs };
  const trainer = trainerActivities(`export ${checkpoint.trainRun}/${checkpoint.name}`, options);
  return trainer[EXPORT]({ checkpoint, directory });
}
