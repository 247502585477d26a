import type { GroupRecord, Rollout } from '../../../../src/training/definitions';

/** Returns a rollout that answered `42` with a plan of one step, with changes. */
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

/** Returns the group of draw 0 in cycle 3 of the training run `nightly`. */
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
