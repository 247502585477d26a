import { EXPORT } from '../../training/names';
import type { ExportResult } from '../../training/trainer-contract';
import type { ExportInput } from '../../training/trainer-jobs';
import { trainerActivities } from './activities';

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
