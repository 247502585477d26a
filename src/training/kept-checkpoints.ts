import { checkpointId } from './manifest';
import type { CheckpointRef } from './train-input';
import type { TrainingSettings } from './training-settings';

/** The checkpoints of one training run, and what may need them. */
export interface Holdings {
  readonly trainRun: string;
  /** Of all its checkpoints that are known. */
  readonly names: readonly string[];
  /** Of any training run. */
  readonly needed: readonly CheckpointRef[];
  readonly keep: TrainingSettings['keep'];
}

/**
 * Names of the checkpoints that stay when the others go: whatever somebody needs, those of the last cycles and of each
 * n-th one, and all that no cycle made. A base or a warm start is what adapters are laid over, and begins a run anew.
 */
export function keptCheckpoints({ trainRun, names, needed, keep }: Holdings): string[] {
  const ids = new Set(needed.map(checkpointId));
  const cycles = names.filter(isCycle).sort((one, other) => Number(one) - Number(other));
  const last = new Set(cycles.slice(Math.max(0, cycles.length - keep.last)));
  return names.filter(
    (name) =>
      !isCycle(name) ||
      last.has(name) ||
      (keep.every !== null && Number(name) % keep.every === 0) ||
      ids.has(checkpointId({ trainRun, name })),
  );
}

function isCycle(name: string): boolean {
  return /^\d+$/.test(name);
}
