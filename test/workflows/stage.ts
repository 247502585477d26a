import { openStage as openUsual, type Stage, type StageOptions } from '../support/stage';
import { useEach } from '../support/use';

export * from '../support/stage';

/** Opens a stage whose worker forgets each run after each task, and replays it for the next, which is the stricter way. */
export function openStage(options: StageOptions = {}): Promise<Stage> {
  return openUsual({ ...options, maxCachedWorkflows: 0 });
}

/** Opens a new one for each test of a file or a block. */
export function useStage(options?: StageOptions): Stage {
  return useEach(() => openStage(options));
}
