import { resolve } from 'node:path';
import { beginExport } from '../../client/training/trainer-jobs';
import { resolveTraining } from '../../pool/resolve-training';
import { readManifest } from '../../policy/manifests';
import { checkpointId } from '../../training/manifest';
import { EXIT, type ExitCode } from '../exit-code';
import { print } from '../terminal';
import { awaitJob } from './await-job';
import { readCheckpoint } from './change-serving';
import { withTraining, type TrainOptions } from './open-training';

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
