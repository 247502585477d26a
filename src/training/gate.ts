import { describePolicy, type GateDecision } from './evaluation';
import { gainsOf, pairUp, type Pair } from './pairs';
import type { ScoredPolicy } from './score';
import { FEWEST_VALUES, lowerBound95, meanOf } from './mean-bound';

/**
 * Decides whether a candidate may serve in place of its baseline: its reward must be higher beyond chance, and its cost
 * within bounds.
 *
 * Beyond chance: the lower 95 % bound (one-sided, of the paired t distribution over questions) of the mean difference of
 * rewards lies above 0.
 *
 * @param maxCostRatio what the candidate's mean cost may be, in mean costs of the baseline
 */
export function decideGate(
  candidate: ScoredPolicy,
  baseline: ScoredPolicy,
  maxCostRatio: number,
): GateDecision {
  const pairs = pairUp(candidate.scores, baseline.scores);
  const gains = gainsOf(pairs);
  const figures = {
    pairs: pairs.length,
    gain: meanOf(gains),
    lowerBound: lowerBound95(gains),
    costRatio: costRatioOf(pairs),
  };
  const objections = objectionsTo(figures, maxCostRatio);
  const promoted = objections.length === 0;
  const names = [describePolicy(candidate.policy), describePolicy(baseline.policy)] as const;
  const verdict = promoted ? `${names[0]} beats ${names[1]}` : `${names[0]} does not replace ${names[1]}`;
  const because = promoted ? '' : `: ${objections.join(', and ')}`;
  return {
    promoted,
    ...figures,
    sentence: `${verdict}${because} (${describe(pairs, figures, maxCostRatio)})`,
  };
}

type Figures = Pick<GateDecision, 'pairs' | 'gain' | 'lowerBound' | 'costRatio'>;

/** Two that cost nothing cost the same; null where some price is unknown. */
function costRatioOf(pairs: readonly Pair[]): number | null {
  const costs = meanCosts(pairs);
  if (costs === null) return null;
  return costs.candidate === costs.baseline ? 1 : costs.candidate / costs.baseline;
}

function meanCosts(pairs: readonly Pair[]): { readonly candidate: number; readonly baseline: number } | null {
  const candidate = pairs.flatMap((pair) => pair.candidate.nanoUsd ?? []);
  const baseline = pairs.flatMap((pair) => pair.baseline.nanoUsd ?? []);
  const means = { candidate: meanOf(candidate), baseline: meanOf(baseline) };
  const isKnown = candidate.length === pairs.length && baseline.length === pairs.length;
  if (!isKnown || means.candidate === null || means.baseline === null) return null;
  return { candidate: means.candidate, baseline: means.baseline };
}

function objectionsTo({ pairs, lowerBound, costRatio }: Figures, maxCostRatio: number): string[] {
  if (lowerBound === null) {
    return [
      `${pairs} held-out questions that both were graded on are too few, at least ${FEWEST_VALUES} are needed`,
    ];
  }
  return [
    ...(lowerBound > 0 ? [] : ['its gain may be chance']),
    ...(costRatio === null
      ? [
          'their costs cannot be compared, since a price is unknown: give each worker a "price" in conductor.yaml',
        ]
      : []),
    ...(costRatio !== null && costRatio > maxCostRatio ? ['it costs too much'] : []),
  ];
}

function describe(
  pairs: readonly Pair[],
  { gain, lowerBound, costRatio }: Figures,
  maxCostRatio: number,
): string {
  const reward = (which: keyof Pair): string =>
    meanOf(pairs.map((pair) => pair[which].reward))?.toFixed(3) ?? 'unknown';
  return [
    `mean reward ${reward('candidate')} against ${reward('baseline')} on ${pairs.length} questions`,
    ...(gain === null ? [] : [`gain ${signed(gain)}`]),
    ...(lowerBound === null ? [] : [`95 % sure of more than ${signed(lowerBound)}`]),
    `cost ${costRatio === null ? 'unknown' : `${costRatio.toFixed(3)} times`} of at most ${maxCostRatio} times`,
  ].join(', ');
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}
