import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { say } from '../../cli/terminal';
import { describeConductor } from '../../config/notices';
import { checkpointId, type CheckpointRef, readCheckpointId } from '../ids';
import type { TrainableConfig } from '../config/schema';
import { pin, promote, rollback, type ServingChange } from '../policy/serving';
import { findTraining, type TrainOptions } from './session';

// These commands need no server.

interface Reasoned extends TrainOptions {
  readonly reason: string;
}

export async function promoteCheckpoint(
  checkpoint: string,
  { reason, ...options }: Reasoned,
): Promise<ExitCode> {
  const { config, store, trainRun } = await findTraining(options);
  return told(await promote(store, readCheckpoint(checkpoint, trainRun), { reason, by: 'person' }), config);
}

export async function rollbackCheckpoint({ reason, ...options }: Reasoned): Promise<ExitCode> {
  const { config, store } = await findTraining(options);
  return told(await rollback(store, reason), config);
}

export async function pinCheckpoint({ off, ...options }: TrainOptions & { off: boolean }): Promise<ExitCode> {
  const { config, store } = await findTraining(options);
  return told(await pin(store, !off, off ? 'unpinned by hand' : 'pinned by hand'), config);
}

/** A checkpoint that serves already is no failure. */
function told(
  { sentence, overtaken, serving: { serving } }: ServingChange,
  config: TrainableConfig,
): ExitCode {
  say(`${sentence}.\nPlans of solves are written ${describePlanner(config, serving)}.`);
  return overtaken ? EXIT.failed : EXIT.answered;
}

/** Names the writer of plans: a checkpoint that serves is asked only if the configuration says so. */
export function describePlanner(
  { conductor }: Pick<TrainableConfig, 'conductor'>,
  serving: CheckpointRef | null,
): string {
  if (conductor.provider !== 'policy') {
    const by = `by the configured Conductor (${describeConductor(conductor)}), whatever serves`;
    return `${by}: "conductor: { provider: policy }" hands them to the checkpoint that serves`;
  }
  if (conductor.checkpoint !== undefined) {
    return `by ${conductor.checkpoint}, whatever serves: conductor.checkpoint names it`;
  }
  return serving === null
    ? 'by no one, and solves fail: conductor.provider is policy; promote a checkpoint, or name a model there'
    : `by ${checkpointId(serving)}`;
}

/** `<training run>/<name>`; for the command's own run also the name alone, or the number of its cycle. */
export function readCheckpoint(text: string, trainRun: string): CheckpointRef {
  const name = /^\d{1,6}$/.test(text) ? text.padStart(6, '0') : text;
  const checkpoint = readCheckpointId(name.includes('/') ? name : `${trainRun}/${name}`);
  if (checkpoint !== null) return checkpoint;
  throw new UsageError(
    `${JSON.stringify(text)} names no checkpoint: expected a cycle such as 40, or a name such as ${trainRun}/000040`,
  );
}
