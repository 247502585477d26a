import type { CloseCycleRequest } from '../../../src/training/contract';
import type { Manifest } from '../../../src/training/policy/serving';
import type { TrainingSettings } from '../../../src/training/config/resolve';
import type { CheckpointRef } from '../../../src/training/ids';

const SHA = 'a'.repeat(64);

/** How a checkpoint is asked that nobody asks. */
export function manifestOf(checkpoint: CheckpointRef): Manifest {
  return {
    schema: 1,
    ...checkpoint,
    model: 'model',
    folder: 'sums/000001/model',
    kind: 'model',
    weightsSha256: SHA,
    tokenizerSha256: SHA,
    vocabulary: 400,
    prompt: 'full',
    chat: 'chatml',
    describe: 'ordinals',
    maxSteps: 5,
    trainedAtTemperature: 1,
    temperature: 0.2,
    maxPromptTokens: 100,
    maxOutputTokens: 10,
    servers: ['http://127.0.0.1:8001/v1'],
    createdAt: '2026-11-21T00:00:00.000Z',
  };
}

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
