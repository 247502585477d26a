import type { Store } from '../../../src';
import type { KeptSamples } from '../../../src/training/activities/batch';
import type { CloseCycleRequest } from '../../../src/training/activities/close-cycle';
import { writeRecord } from '../../../src/store/records';
import type { TrainingSettings } from '../../../src/training/config';
import type { GroupRecord } from '../../../src/training/definitions';
import { aGroup, aRollout } from '../../cli/train/show/a-group';

const SHA = 'a'.repeat(64);

/** Returns a group of cycle 7 of the training run `sums`, with a rollout for each reward. */
export function groupOf(
  draw: number,
  rewards: readonly (number | null)[],
  change: Partial<GroupRecord> = {},
): GroupRecord {
  const rollouts = rewards.map((reward, index) => {
    const verdict = reward === null ? 'ungraded' : reward === 1 ? 'correct' : 'wrong';
    const usage = { calls: 1, inputTokens: 10, outputTokens: 5 };
    return aRollout(index, { tokens: 2, verdict, reward, usage });
  });
  const own = { trainRun: 'sums', cycle: 7, question: `q${draw}`, checkpoint: 'sums/000006' };
  return aGroup(rollouts, { ...own, draw, samples: `samples/${draw}.json`, ...change });
}

/** Stores the policy's samples for a group; the tokens of each reply are its draw and its index. */
export async function keepSamplesOf(
  store: Store,
  { samples, draw, rollouts }: GroupRecord,
  change: Partial<KeptSamples> = {},
  replies: readonly string[] = [],
): Promise<void> {
  if (samples === null) throw new Error('the group has no samples');
  await writeRecord(store, samples, {
    identity: 'identity',
    checkpoint: 'sums/000006',
    temperature: 1,
    tokenizerSha256: SHA,
    rollouts: rollouts.map(({ index }) => ({
      text: replies[index] ?? 'a plan',
      promptTokenIds: [1, 2, 3],
      completionTokenIds: [draw, index],
      sampledLogprobs: [-0.5, -0.25],
      finishReason: 'stop',
    })),
    ...change,
  });
}

/** Returns the request with which a workflow closes a cycle. */
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
    imitation: null,
  };
}
