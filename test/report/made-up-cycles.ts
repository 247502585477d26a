import type { CycleMetrics } from '../../src/training/definitions';

/** Returns cycles of an invented training run: every figure is made up, as the run's name says. */
export function madeUpCycles(count: number, changes: Partial<CycleMetrics> = {}): CycleMetrics[] {
  return Array.from({ length: count }, (_, index) => ({ ...madeUpCycle(index + 1, count), ...changes }));
}

function madeUpCycle(cycle: number, count: number): CycleMetrics {
  const learned = 1 - Math.exp((-3 * cycle) / count);
  const wave = Math.sin(cycle * 2.4) * 0.02;
  const correct = 0.35 + 0.5 * learned + wave;
  const unparseable = 0.12 * (1 - learned);
  const ungraded = 0.01;
  const share = (from: number, to: number): number => from + (to - from) * learned;
  return {
    schema: 1,
    trainRun: 'made-up',
    cycle,
    night: cycle <= count / 2 ? '2026-11-20' : '2026-11-21',
    checkpoint: String(cycle).padStart(6, '0'),
    weightsSha256: '0'.repeat(64),
    at: `2026-11-21T00:00:${String(cycle % 60).padStart(2, '0')}.000Z`,
    rewardMean: correct + (1 - correct - unparseable) * 0.5,
    rewardSpread: 0.3 - 0.15 * learned,
    formatRate: 1 - unparseable,
    verdicts: {
      correct: Math.round(1000 * correct),
      wrong: Math.round(1000 * (1 - correct - unparseable - ungraded)),
      unparseable: Math.round(1000 * unparseable),
      ungraded: 1000 * ungraded,
    },
    draws: 4,
    dropped: 1,
    planLength: 3.4 - 1.2 * learned + wave,
    workerShares: {
      quick: share(0.25, 0.1),
      scholar: share(0.25, 0.45),
      coder: share(0.25, 0.3),
      checker: share(0.25, 0.15),
    },
    topologyShares: {
      single: share(0.3, 0.1),
      chain: share(0.4, 0.5),
      parallel: share(0.2, 0.05),
      tree: share(0.05, 0.33),
      other: share(0.05, 0.02),
    },
    planEntropy: 2 - 1.5 * learned,
    topics: { law: { plans: 64, shapes: { '[[],[0]]': 40, '[[]]': 24 }, graded: 64, right: 50 } },
    collapse: null,
    failureShares: { format: share(0.4, 0.1), 'one worker': share(0.3, 0.2), unsolved: share(0.3, 0.7) },
    workerTokens: 1900 - 600 * learned + 900 * wave,
    planTokens: 120 - 30 * learned,
    usd: 0.0023 - 0.0008 * learned,
    update: {
      loss: 0.01,
      gradNorm: 0.4,
      learningRate: 1e-4,
      ratio: 1,
      samplerGap: 1e-6,
      weight: 1,
      weightLimited: 0,
      policyGap: 1e-3,
      clipShare: 0.02 + wave / 4,
      kl: 0.0004 + wave / 100 + 0.0006 * learned,
      entropy: 1.2 - 0.9 * learned,
      logprobGap: 1e-5,
      largestAdvantage: 1.5,
      tokens: 12000,
      seconds: 0.6,
    },
    times: {
      sampling: 900,
      rollouts: 7000 + 9000 * wave,
      grading: 40,
      update: 650,
      publish: 120,
      between: 230,
      whole: 8900,
    },
    imitation: null,
    heldOut: cycle % 10 === 0 ? correct + (1 - correct) * 0.48 : null,
  };
}
