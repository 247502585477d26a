import type { CheckpointRef } from '../checkpoint-ref';
import type { NamedPlaces, OpenedNight, WarmStartInput } from '../contract';
import { INIT, PREFLIGHT, WARM_START, WARM_START_WORKFLOW } from '../names';
import { checkNamed, trainerActivities, trainerOptions } from './activities';
import { publish, refOf } from './checkpoints';
import { checkWarmStart } from './input';

/** The run's last checkpoint, or a first one that the trainer makes of the base model, and of examples if there are any. */
export async function firstCheckpoint({
  from,
  init,
  warmStart,
  settings,
}: Pick<OpenedNight, 'from' | 'init' | 'warmStart'> &
  Pick<WarmStartInput, 'settings'>): Promise<CheckpointRef> {
  if (from !== null) return from;
  const options = trainerOptions(settings, settings.budget.wallClockMs);
  let { checkpoint } = await trainerActivities('make the base', options)[INIT](init);
  if (warmStart !== null) {
    ({ checkpoint } = await trainerActivities('warm start', options)[WARM_START](warmStart));
  }
  await publish(settings, checkpoint, options);
  return refOf(checkpoint);
}

/** Has the trainer reckon whether its updates will fit into memory, beside policy servers that are there by now. */
export async function requireMemory(
  { settings, init: { config } }: Pick<OpenedNight, 'settings' | 'init'>,
  checkpoint: CheckpointRef,
): Promise<void> {
  const options = trainerOptions(settings, settings.budget.wallClockMs);
  await trainerActivities('is there memory?', options)[PREFLIGHT]({ checkpoint, config });
}

/** Workflow `conductorWarmStart`: makes a first checkpoint of examples, or returns the one made of the same input. */
export async function conductorWarmStart(input: WarmStartInput): Promise<CheckpointRef> {
  checkWarmStart(WARM_START_WORKFLOW, input);
  await checkNamed(placesIn(input));
  return firstCheckpoint({ ...input, from: null });
}

/** Places that a night, or a warm start, names beside the worker. */
export function placesIn({ settings, init }: Pick<WarmStartInput, 'settings' | 'init'>): NamedPlaces {
  const { policy, trainer } = settings;
  const modelFolder = init.base.kind === 'folder' ? init.base.path : undefined;
  return { policyServer: policy.baseUrl, trainerQueue: trainer.taskQueue, modelFolder };
}
