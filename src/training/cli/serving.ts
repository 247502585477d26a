import { resolve } from 'node:path';
import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { print, say } from '../../cli/terminal';
import { beginExport } from '../client/trainer-jobs';
import { resolveTraining } from '../config/resolve';
import type { CheckpointRef } from '../input';
import { checkpointId, readCheckpointId } from '../manifest';
import { pin, promote, readManifest, rollback, type ServingChange } from '../policy/serving';
import { awaitJob, findTraining, type TrainingPlace, type TrainOptions, withTraining } from './session';

/** Has a checkpoint serve from the next solve on, whatever the gate says. Needs no server. */
export async function promoteCheckpoint(
  checkpoint: string,
  { reason = 'promoted by hand', ...options }: TrainOptions & { readonly reason?: string },
): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  return tell(await promote(store, readCheckpoint(checkpoint, trainRun), { reason, by: 'person' }));
}

/** Takes the last promotion back. */
export async function rollbackServing({
  reason = 'rolled back by hand',
  ...options
}: TrainOptions & { readonly reason?: string }): Promise<ExitCode> {
  const { store }: TrainingPlace = await findTraining(options);
  return tell(await rollback(store, reason));
}

/** Keeps gates from changing what serves, or lets them again. */
export async function pinServing({
  off = false,
  ...options
}: TrainOptions & { readonly off?: boolean }): Promise<ExitCode> {
  const { store } = await findTraining(options);
  return tell(await pin(store, !off, off ? 'unpinned by hand' : 'pinned by hand'));
}

/** `<training run>/<name>`; of the command's own run the name alone, or the number of the cycle that made it. */
export function readCheckpoint(text: string, trainRun: string): CheckpointRef {
  const name = /^\d{1,6}$/.test(text) ? text.padStart(6, '0') : text;
  const checkpoint = readCheckpointId(name.includes('/') ? name : `${trainRun}/${name}`);
  if (checkpoint !== null) return checkpoint;
  throw new UsageError(
    `${JSON.stringify(text)} names no checkpoint: expected a cycle such as 40, or a name such as ${trainRun}/000040`,
  );
}

/** Nothing changed because it is so already, which is what was asked for. */
function tell({ sentence }: ServingChange): ExitCode {
  say(`${sentence}.`);
  return EXIT.answered;
}

/**
 * Has the trainer write a checkpoint as a model that anybody's tools load, and prints its files.
 *
 * @param folder as the trainer's machine sees it; a relative one is taken from here, where both are one machine
 */
export function exportCheckpoint(
  checkpoint: string,
  folder: string,
  options: TrainOptions,
): Promise<ExitCode> {
  return withTraining(options, { outliving: '"train export"' }, async (session) => {
    const { config, store, temporal, trainRun } = session;
    const ref = readCheckpoint(checkpoint, trainRun);
    await readManifest(store, ref);
    const { trainer, run, budget } = resolveTraining(config);
    const job = await beginExport(temporal, config.temporal.taskQueue, {
      checkpoint: ref,
      directory: resolve(folder),
      taskQueue: trainer.taskQueue,
      heartbeatMs: run.heartbeatMs,
      timeoutMs: budget.wallClockMs,
    });
    const result = await awaitJob(session, job, {
      what: `Exporting ${checkpointId(ref)}`,
      trainerQueue: trainer.taskQueue,
    });
    if (result === undefined) return EXIT.interrupted;
    await print(result.files.map((file) => `${result.directory}/${file}`).join('\n'));
    return EXIT.answered;
  });
}
