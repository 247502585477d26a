import type { OpenedNight } from './activities';
import type { CheckpointRef } from './train-input';

/** What the trainer does for a person, beside the nights: the arguments of its workflows. */

/** The one argument of workflow `warmStart`: a base model, the examples, and what the checkpoint is to be asked by. */
export interface WarmStartInput extends Pick<OpenedNight, 'init' | 'settings'> {
  readonly warmStart: NonNullable<OpenedNight['warmStart']>;
}

/** The one argument of workflow `exportCheckpoint`. */
export interface ExportInput {
  readonly checkpoint: CheckpointRef;
  /** As the trainer's machine sees it: not there yet, or empty. */
  readonly directory: string;
  /** Where the trainer listens. */
  readonly taskQueue: string;
  /** How soon a lost trainer is noticed. */
  readonly heartbeatMs: number;
  /** After which nobody waits for it any more. */
  readonly timeoutMs: number;
}
