import type { Store } from '../../../src';
import type { KeptSamples } from '../../../src/training/activities/batch';
import { writeRecord } from '../../../src/training/activities/records';
import type { GroupRecord } from '../../../src/training/records';
import { aGroup, aRollout } from '../cli/show/a-group';

const SHA = 'a'.repeat(64);

/** A group of cycle 7 of the training run `sums`, with a rollout for each reward. */
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

/** Keeps what the policy wrote for a group: each reply is its draw and its place, as tokens. */
export async function keepSamplesOf(
  store: Store,
  { samples, draw, rollouts }: GroupRecord,
  change: Partial<KeptSamples> = {},
): Promise<void> {
  if (samples === null) throw new Error('the group has no samples');
  await writeRecord(store, samples, {
    identity: 'identity',
    checkpoint: 'sums/000006',
    temperature: 1,
    tokenizerSha256: SHA,
    rollouts: rollouts.map(({ index }) => ({
      text: 'a plan',
      promptTokenIds: [1, 2, 3],
      completionTokenIds: [draw, index],
      sampledLogprobs: [-0.5, -0.25],
      finishReason: 'stop',
    })),
    ...change,
  });
}
