import type { GroupRecord, Rollout } from '../../../../src/training/records';

/** A rollout that answered `42` with the plan of one step, changed as a test wants it. */
export function aRollout(index: number, changes: Partial<Rollout> = {}): Rollout {
  return {
    index,
    root: index,
    plan: { steps: [{ worker: 'quick', subtask: 'Answer.', sees: [] }] },
    problem: null,
    tokens: 40,
    answer: '42',
    verdict: 'correct',
    reward: 1,
    usage: { calls: 1, inputTokens: 100, outputTokens: 20 },
    nanoUsd: 1000,
    invalidBecause: null,
    ...changes,
  };
}

/** Draw 0 of cycle 3 of the training run `nightly`. */
export function aGroup(rollouts: readonly Rollout[], changes: Partial<GroupRecord> = {}): GroupRecord {
  return {
    trainRun: 'nightly',
    purpose: 'training',
    cycle: 3,
    question: 'algebra-17',
    draw: 0,
    round: 0,
    workers: ['quick', 'scholar'],
    checkpoint: 'nightly/000002',
    samples: null,
    rollouts,
    ...changes,
  };
}
