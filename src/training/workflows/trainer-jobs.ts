import type { CheckpointRef, ExportInput, WarmStartInput } from '../input';
import { EXPORT } from '../names';
import type { ExportResult } from '../trainer-contract';
import { trainerActivities } from './activities';
import { firstCheckpoint } from './loop';

/**
 * Workflow `exportCheckpoint`: has the trainer write a checkpoint as a model of its own, adapters merged, with tokenizer,
 * chat template and model card.
 *
 * @throws ApplicationFailure of a `Trainer.*` type
 */
export function exportCheckpoint({
  checkpoint,
  directory,
  taskQueue,
  heartbeatMs,
  timeoutMs,
}: ExportInput): Promise<ExportResult> {
  const summary = `export ${checkpoint.trainRun}/${checkpoint.name}`;
  const patience = { taskQueue, heartbeatMs, remainingMs: timeoutMs };
  return trainerActivities(summary, patience)[EXPORT]({ checkpoint, directory });
}

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
