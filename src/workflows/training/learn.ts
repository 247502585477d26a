import type { KeptCheckpoint, OpenedNight } from '../../training/activities';
import { INIT, KEEP_CHECKPOINT, PUBLISH, UPDATE, WARM_START, WRITE_BATCH } from '../../training/names';
import type { CheckpointRef } from '../../training/train-input';
import type { Checkpoint, UpdateMetrics } from '../../training/trainer-contract';
import type { TrainingSettings } from '../../training/training-settings';
import { bookActivities, trainerActivities, type TrainerPatience } from './activities';
import type { Night } from './night';
import type { Stopwatch } from './stopwatch';

/**
 * How far a log-probability on the probe may be off what the trainer says. On a CPU both reckon alike. For a GPU both
 * reckon in bfloat16, which rounds logits of 16 and more to steps of 0.125: on 63 tokens of a tiny model vLLM and
 * transformers were up to 0.25 apart with equal weights, and from 1.1 to 7.7 with those of other checkpoints.
 */
const TOLERANCE = { cpu: 1e-4, cuda: 0.5 } as const;

/** What a cycle's update came to. */
export interface Learned {
  readonly checkpoint: Checkpoint;
  readonly metrics: UpdateMetrics;
  /** What else policy servers are asked for. */
  readonly served: readonly CheckpointRef[];
}

/** Has the trainer take one step from the checkpoint at hand, and the policy server load what came of it. */
export async function learn(
  night: Night,
  cycle: number,
  groups: readonly string[],
  watch: Stopwatch<'update' | 'publish'>,
): Promise<Learned> {
  const { settings } = night.opened;
  const { trainRun, policy } = settings;
  const parent = night.checkpoint;
  const { temperature } = policy;
  const batch = await bookActivities(`batch of cycle ${cycle}`)[WRITE_BATCH]({
    trainRun,
    cycle,
    checkpoint: parent,
    temperature,
    groups,
  });
  const { config, patience } = trainerOf(settings, night.patienceMs());
  const { checkpoint, metrics } = await watch.time('update', () =>
    trainerActivities(`update of cycle ${cycle}`, patience)[UPDATE]({
      trainRun,
      cycle,
      parent,
      batch: { key: batch.key, sha256: batch.sha256 },
      config,
    }),
  );
  const { served } = await watch.time('publish', () => publish(settings, checkpoint, patience));
  return { checkpoint, metrics, served };
}

/**
 * The checkpoint that a night begins with: the run's last, or the first that the trainer makes of the base model, warmed
 * up where examples are at hand.
 */
export async function firstCheckpoint({
  from,
  init,
  warmStart,
  settings,
}: Pick<OpenedNight, 'from' | 'init' | 'warmStart' | 'settings'>): Promise<CheckpointRef> {
  if (from !== null) return from;
  const { patience } = trainerOf(settings, settings.budget.wallClockMs);
  const base = await trainerActivities('make the base', patience)[INIT](init);
  const first =
    warmStart === null ? base : await trainerActivities('warm start', patience)[WARM_START](warmStart);
  await publish(settings, first.checkpoint, patience);
  const { trainRun, name } = first.checkpoint;
  return { trainRun, name };
}

/** Has the policy server load a checkpoint, checks that it is the one, and keeps how it must be asked. */
async function publish(
  settings: TrainingSettings,
  checkpoint: Checkpoint,
  patience: TrainerPatience,
): Promise<KeptCheckpoint> {
  const { trainRun, name } = checkpoint;
  const { baseUrl, patienceMs } = settings.policy;
  // Whoever made the checkpoint is there; it is the policy server that may be away.
  const remainingMs = Math.min(patience.remainingMs, patienceMs);
  const { model } = await trainerActivities(`publish ${name}`, { ...patience, remainingMs })[PUBLISH]({
    checkpoint: { trainRun, name },
    servers: [baseUrl],
    tolerance: TOLERANCE[settings.trainer.device],
  });
  return bookActivities(`keep ${name}`)[KEEP_CHECKPOINT]({ checkpoint, model, settings });
}

/** How far the policy server's log-probabilities of the night's checkpoint are off the trainer's, and may be. */
export async function probe(night: Night): Promise<{ logprobGap: number; tolerance: number }> {
  const { settings } = night.opened;
  const { patience } = trainerOf(settings, night.patienceMs());
  const { logprobGap } = await trainerActivities('probe', patience)[PUBLISH]({
    checkpoint: night.checkpoint,
    servers: [settings.policy.baseUrl],
    // Whatever it is, the canary judges it.
    tolerance: Number.MAX_VALUE,
  });
  return { logprobGap, tolerance: TOLERANCE[settings.trainer.device] };
}

function trainerOf(
  { trainer, run }: TrainingSettings,
  remainingMs: number,
): { config: Omit<TrainingSettings['trainer'], 'taskQueue'>; patience: TrainerPatience } {
  const { taskQueue, ...config } = trainer;
  return { config, patience: { taskQueue, remainingMs, heartbeatMs: run.heartbeatMs } };
}
