/** A checkpoint, by training run and name. */
export interface CheckpointRef {
  readonly trainRun: string;
  readonly name: string;
}

/** A checkpoint as people and pointers name it: `<training run>/<name>`. */
export function checkpointId({ trainRun, name }: CheckpointRef): string {
  return `${trainRun}/${name}`;
}

/** Writer of plans: a checkpoint, or the prompted Conductor of `conductor.yaml`, which is no checkpoint. */
export type PolicyRef = CheckpointRef | 'prompted';

/** How sentences and records call a policy: `<training run>/<name>`, or `the prompted Conductor`. */
export function describePolicy(policy: PolicyRef): string {
  return policy === 'prompted' ? 'the prompted Conductor' : checkpointId(policy);
}

/** Reads what `checkpointId` writes; null for anything else. Both parts are fit to be part of a key of the store. */
export function readCheckpointId(text: string): CheckpointRef | null {
  const [, trainRun, name] = /^([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9-]{0,62})$/.exec(text) ?? [];
  return trainRun === undefined || name === undefined ? null : { trainRun, name };
}
