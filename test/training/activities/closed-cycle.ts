import type { CloseCycleRequest } from '../../../src/training/activities/close-cycle';
import type { TrainingSettings } from '../../../src/training/config/resolve';

const SHA = 'a'.repeat(64);

/** Report of a workflow on a cycle that is over. */
export function closedCycle(
  settings: TrainingSettings,
  night: string,
  cycle: number,
  groups: readonly string[] = [],
): CloseCycleRequest {
  return {
    night,
    cycle,
    checkpoint: { trainRun: settings.trainRun, name: String(cycle).padStart(6, '0') },
    writer: null,
    weightsSha256: SHA,
    settings,
    groups,
    dropped: 0,
    update: null,
    times: { sampling: 1, rollouts: 1, grading: 1, update: 1, publish: 1, between: 0, whole: 5 },
    heldOut: null,
  };
}
