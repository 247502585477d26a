import { imitationSteps } from '../imitation';
import type { CheckpointRef } from '../names';
import * as names from '../names';
import type { CycleMetrics } from '../records';
import { materialSpread } from '../rewards';
import type { Stopwatch } from '../summarize-cycle';
import type { Checkpoint } from '../trainer-contract';
import { trainingStoreActivities, trainerActivities } from './activities';
import { publish } from './checkpoints';
import type { Night } from './night';
import { sleepersOf } from './policy-servers';
import { type CycleRollouts, drawGroups, type Rollouts } from './rollouts';

type Watch = Stopwatch<'update' | 'publish'>;

/** Next checkpoint, with the figures of its update or imitation. */
interface Learned extends Pick<CycleMetrics, 'update' | 'imitation'> {
  readonly checkpoint: Checkpoint;
}

/**
 * Makes the night's next checkpoint and has the policy server load it; null if nothing can be learned. `served` lists
 * what serves and what a rollback would restore, which must stay loaded.
 */
export async function learn(
  night: Night,
  cycle: number,
  played: CycleRollouts,
  rollouts: Rollouts,
  watch: Watch,
): Promise<(Learned & { readonly served: readonly CheckpointRef[] }) | null> {
  const { settings } = night.state.opened;
  const imitates = imitationSteps(settings.imitation, cycle) > 0;
  const learns = imitates || played.learnable.length > 0;
  if (learns) rollouts.begin(cycle + 1);
  if (imitates || settings.imitation?.again !== undefined) await keepRightPlans(night, cycle, played);
  if (!learns) return null;
  night.phase = 'update';
  const learned = await (imitates ? imitate : learnFromRewards)(night, cycle, watch, played);
  if (learned === null) return null;
  // A server that holds one policy at a time would otherwise switch back and forth.
  await rollouts.whenOver();
  const timeoutMs = night.trainerTimeoutMs();
  const { served, leftOut } = await watch.time('publish', () =>
    publish(settings, learned.checkpoint, timeoutMs),
  );
  night.leaveOut(leftOut);
  return { ...learned, served };
}

/** Updates the policy by GRPO on the groups that can be learned from. */
async function learnFromRewards(
  night: Night,
  cycle: number,
  watch: Watch,
  { learnable, writer }: CycleRollouts,
): Promise<Learned> {
  const { checkpoint: parent, opened } = night.state;
  const { settings, init } = opened;
  const { trainRun, policy, keepFlat, reward } = settings;
  const rewardedOnly = settings.trainer.loss.beta === 0;
  const { key, sha256 } = await trainingStoreActivities(`batch of cycle ${cycle}`)[names.WRITE_BATCH]({
    trainRun,
    cycle,
    checkpoint: parent,
    writer,
    temperature: policy.temperature,
    groups: learnable,
    learning: { keepFlat, material: materialSpread(reward), rewardedOnly },
  });
  const trainer = trainerActivities(`update of cycle ${cycle}`, settings, night.trainerTimeoutMs());
  const { checkpoint, metrics } = await watch.time('update', () =>
    trainer[names.UPDATE]({
      ...{ trainRun, cycle, parent, batch: { key, sha256 } },
      config: init.config,
      ...sleepersOf(settings),
    }),
  );
  return { checkpoint, update: metrics, imitation: null };
}

async function keepRightPlans(night: Night, cycle: number, played: CycleRollouts): Promise<void> {
  const { settings } = night.state.opened;
  const drawn = drawGroups(night, { cycle, writer: played.writer }, 0, played.groups.length);
  const groups = played.groups.flatMap(({ draw, rounds: [first] }) => {
    const question = drawn[draw]?.question;
    return first === undefined || question === undefined ? [] : [{ key: first.key, question }];
  });
  await trainingStoreActivities(`right plans of cycle ${cycle}`)[names.KEEP_RIGHT_PLANS]({
    cycle,
    settings,
    groups,
  });
}

/** Takes supervised steps on right plans of this cycle and those before it; null while there are none. */
async function imitate(night: Night, cycle: number, watch: Watch): Promise<Learned | null> {
  const { checkpoint: parent, opened } = night.state;
  const { settings, init } = opened;
  const { trainRun, imitation } = settings;
  if (imitation === undefined) return null;
  const store = trainingStoreActivities(`examples of cycle ${cycle}`);
  const examples = await store[names.WRITE_EXAMPLES]({ cycle, settings });
  if (examples === null) return null;
  const steps = imitationSteps(imitation, cycle);
  const { batch, learningRate, warmupSteps } = imitation;
  const trainer = trainerActivities(`imitation of cycle ${cycle}`, settings, night.trainerTimeoutMs());
  const { checkpoint, loss, seconds } = await watch.time('update', () =>
    trainer[names.WARM_START]({
      ...{ trainRun, parent, examples, steps, batch, learningRate, warmupSteps },
      name: names.sixDigits(cycle),
      weights: 'tuned',
      config: init.config,
      ...sleepersOf(settings),
    }),
  );
  return { checkpoint, update: null, imitation: { loss, seconds } };
}
