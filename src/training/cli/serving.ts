import { EXIT, type ExitCode, UsageError } from '../../cli/ending';
import { say } from '../../cli/terminal';
import { someOf } from '../../config/errors';
import { describeConductor } from '../../config/cards';
import { readPolicy } from '../../evaluation/methods/read-method';
import type { Store } from '../../store/store';
import { checkpointId, type CheckpointRef, readCheckpointId } from '../names';
import type { TrainableConfig } from '../config/schema';
import { pin, promote, rollback, type ServingChange } from '../policy/serving';
import { checkpointsFolder } from '../store-keys';
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

/** @throws UsageError for a method of an evaluation that names a checkpoint which the store does not know */
export async function checkCheckpoints(store: Store, methods: readonly string[]): Promise<void> {
  for (const method of methods) {
    const [name, ...argument] = method.split(':');
    const id = name === 'conductor' ? readPolicy(argument.join(':'))?.checkpoint : null;
    const checkpoint = id == null ? null : readCheckpointId(id);
    if (checkpoint === null) continue;
    const folder = checkpointsFolder(checkpoint.trainRun);
    const known = (await store.list(folder)).map((key) => key.slice(folder.length).replace(/\.json$/, ''));
    if (known.includes(checkpoint.name)) continue;
    const there =
      known.length === 0 ? `none of training run ${checkpoint.trainRun}` : someOf(known.toSorted());
    throw new UsageError(
      `there is no checkpoint ${checkpointId(checkpoint)}: the store ${store.url} has ${there}`,
    );
  }
}
