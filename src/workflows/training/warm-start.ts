import type { CheckpointRef } from '../../training/train-input';
import type { WarmStartInput } from '../../training/trainer-jobs';
import { firstCheckpoint } from './learn';

/**
 * Workflow `warmStart`: has the trainer make the base model and learn the examples, the policy server load what came of
 * it, and keeps how it must be asked. What was made before from the same input is not made again.
 *
 * @returns the checkpoint to begin a night with
 * @throws ApplicationFailure of a `Trainer.*` type
 */
export function warmStart(input: WarmStartInput): Promise<CheckpointRef> {
  return firstCheckpoint({ ...input, from: null });
}
