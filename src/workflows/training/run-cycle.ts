import { cycleTimes } from '../../training/cycle-times';
import { CLOSE_CYCLE } from '../../training/names';
import type { CheckpointRef } from '../../training/train-input';
import { bookActivities } from './activities';
import { retireCheckpoints } from './clear-away';
import { learn, type Learned } from './learn';
import type { Night } from './night';
import { playCycle } from './play-cycle';
import { Stopwatch } from './stopwatch';
import { heldOutQuestions, tryPolicy } from './try-policy';

/**
 * One cycle: rollouts, update, publish, and a line of figures. A cycle in which no group had a spread teaches nothing
 * and leaves the checkpoint as it is.
 */
export async function runCycle(night: Night, cycle: number): Promise<void> {
  const begun = Date.now();
  const { night: claimed, settings } = night.opened;
  night.phase = 'rollouts';
  const { groups, learnable, dropped } = await playCycle(night, cycle);
  const watch = new Stopwatch<'update' | 'publish'>();
  night.phase = 'update';
  const learned = learnable.length === 0 ? null : await learn(night, cycle, learnable, watch);
  const checkpoint = learned === null ? night.checkpoint : checkpointOf(learned);
  // Beside the figures, which take as long.
  const cleared = learned === null ? null : retireCheckpoints(night, checkpoint, learned.served);
  const heldOut = await tryOnHeldOut(night, cycle, checkpoint);
  const spans = [...groups.flatMap((group) => group.spans), ...watch.spans];
  night.phase = 'figures';
  const metrics = await bookActivities(`figures of cycle ${cycle}`)[CLOSE_CYCLE]({
    night: claimed.date,
    cycle,
    checkpoint,
    weightsSha256: learned?.checkpoint.weightsSha256 ?? null,
    settings,
    groups: groups.flatMap(({ rounds }) => rounds.map(({ key }) => key)),
    dropped,
    update: learned?.metrics ?? null,
    times: cycleTimes(spans, Date.now() - begun),
    heldOut,
  });
  await cleared;
  night.advance(checkpoint, metrics);
}

function checkpointOf({ checkpoint: { trainRun, name } }: Learned): CheckpointRef {
  return { trainRun, name };
}

/** Mean reward on the held-out questions, in cycles where they are due; else null. */
async function tryOnHeldOut(night: Night, cycle: number, checkpoint: CheckpointRef): Promise<number | null> {
  const { evaluateEvery } = night.opened.settings;
  if (evaluateEvery === null || cycle % evaluateEvery !== 0) return null;
  night.phase = 'held-out questions';
  const { meanReward } = await tryPolicy(night, 'evaluation', checkpoint, cycle, heldOutQuestions(night));
  return meanReward;
}
