import { isCancellation, log } from '@temporalio/workflow';
import type { CheckpointRef } from '../input';
import { COLLECT, FORGET_CHECKPOINTS, RETIRE } from '../names';
import { storeActivities, dispensableActivities } from './activities';
import type { Night } from './night';
import { rootFailure } from './nightly';

/**
 * Has the policy server forget the training run's checkpoints, all but the ones that somebody asks for.
 *
 * @param checkpoint what the night has just come to
 * @param served what is asked for beside the night
 */
export function retireCheckpoints(
  night: Night,
  checkpoint: CheckpointRef,
  served: readonly CheckpointRef[],
): Promise<void> {
  const { settings } = night.opened;
  const { trainRun, policy, trainer, run } = settings;
  const needed = [...night.neededWith(checkpoint), ...served].filter((each) => each.trainRun === trainRun);
  const keep = [...new Set(needed.map(({ name }) => name))];
  const patience = { taskQueue: trainer.taskQueue, heartbeatMs: run.heartbeatMs };
  return unlessItFails(night, 'the policy server was not rid of old checkpoints', async () => {
    await dispensableActivities('retire old checkpoints', patience)[RETIRE]({
      trainRun,
      keep,
      servers: [policy.baseUrl],
    });
  });
}

/** Removes the training run's checkpoints from the trainer's disk, all but the ones that somebody may need. */
export function collectCheckpoints(night: Night): Promise<void> {
  const { trainRun, keep, trainer, run } = night.opened.settings;
  const patience = { taskQueue: trainer.taskQueue, heartbeatMs: run.heartbeatMs };
  return unlessItFails(night, "old checkpoints were left on the trainer's disk", async () => {
    const { kept } = await storeActivities('forget old checkpoints')[FORGET_CHECKPOINTS]({
      trainRun,
      needed: night.neededWith(night.checkpoint),
      keep,
    });
    await dispensableActivities('collect old checkpoints', patience)[COLLECT]({ trainRun, keep: [...kept] });
  });
}

/**
 * What was learned matters more than what lies about: a failure is told, and nothing else comes of it. A cancellation is
 * heard by whatever the night does next.
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
