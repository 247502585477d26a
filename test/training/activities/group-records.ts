import type { Store } from '../../../src';
import type { KeptSamples } from '../../../src/training/activities/batch';
import { writeRecord } from '../../../src/training/activities/records';
import type { GroupRecord, Rollout } from '../../../src/training/records';

const SHA = 'a'.repeat(64);

/** A rollout of one step that earned something. */
function rolloutOf(index: number, reward: number | null): Rollout {
  return {
    index,
    root: index,
    plan: { steps: [{ worker: 'w', subtask: 'Solve it.', sees: [] }] },
    problem: null,
    tokens: 2,
    answer: '4',
    verdict: reward === null ? 'ungraded' : reward === 1 ? 'correct' : 'wrong',
    reward,
    usage: { calls: 1, inputTokens: 10, outputTokens: 5 },
    nanoUsd: 1000,
    invalidBecause: null,
  };
}

/** A group of cycle 7 with a rollout for each reward. */
export function groupOf(
  draw: number,
  rewards: readonly (number | null)[],
  change: Partial<GroupRecord> = {},
): GroupRecord {
  return {
    trainRun: 'sums',
    purpose: 'training',
    cycle: 7,
    question: `q${draw}`,
    draw,
    round: 0,
    workers: ['w'],
    checkpoint: 'sums/000006',
    samples: `samples/${draw}.json`,
    rollouts: rewards.map((reward, index) => rolloutOf(index, reward)),
    ...change,
  };
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
