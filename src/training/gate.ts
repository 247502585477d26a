import {
  FEWEST_VALUES,
  lowerBound,
  meanOf,
  meanOfAll,
  riskOf,
  signed,
  smallestGain,
  spreadOf,
  upperBound,
} from '../evaluation/statistics';
import { describePolicy } from './checkpoint-ref';
import type { GateDecision } from './contract';
import { gainsOf, type Pair, pairUp, type ScoredPolicy } from './scores';

/** Settings of a judgement. */
export interface GateRule {
  /** Highest cost of a candidate in costs of its baseline; null: any. */
  readonly maxCostRatio: number | null;
  /** Non-inferiority margin. */
  readonly margin: number;
  /** How many gate decisions used this held-out set, this one included. */
  readonly judgement: number;
}

/**
 * Decides whether a candidate may serve in place of its baseline. It may if its reward is higher beyond chance, or if it
 * is cheaper beyond chance and its reward not lower by `margin` or more; and if it costs no more than `maxCostRatio`
 * allows.
 *
 * Beyond chance: by the one-sided bounds of the paired t distribution over questions, which may err the more rarely the
 * more often these questions were judged on (`riskOf`).
 */
export function decideGate(candidate: ScoredPolicy, baseline: ScoredPolicy, rule: GateRule): GateDecision {
  const pairs = pairUp(candidate.scores, baseline.scores);
  const gains = gainsOf(pairs);
  const risk = riskOf(rule.judgement);
  const figures = {
    judgement: rule.judgement,
    pairs: pairs.length,
    gain: meanOf(gains),
    lowerBound: lowerBound(gains, risk),
    smallestGain: smallestGain(gains.length, spreadOf(gains), risk),
    costRatio: costRatioOf(pairs),
  };
  const isBetter = (figures.lowerBound ?? 0) > 0;
  const isCheaper = (upperBound(extraCosts(pairs), risk) ?? 0) < 0;
  const objections = objectionsTo(figures, rule, isCheaper);
  const promoted = objections.length === 0;
  const [name, other] = [describePolicy(candidate.policy), describePolicy(baseline.policy)];
  const merit = isBetter ? `${name} beats ${other}` : `${name} is not worse than ${other}, and cheaper`;
  const verdict = promoted ? merit : `${name} does not replace ${other}: ${objections.join(', and ')}`;
  return {
    promoted,
    ...figures,
    isLoss: (upperBound(gains, risk) ?? 0) < 0,
    sentence: `${verdict} (${describe(pairs, figures, rule)})`,
  };
}

type Figures = Omit<GateDecision, 'promoted' | 'isLoss' | 'sentence'>;

/** Two that cost nothing cost the same; null where some price is unknown. */
function costRatioOf(pairs: readonly Pair[]): number | null {
  const candidate = meanOfAll(pairs.map((pair) => pair.candidate.nanoUsd));
  const baseline = meanOfAll(pairs.map((pair) => pair.baseline.nanoUsd));
  if (candidate === null || baseline === null) return null;
  return candidate === baseline ? 1 : candidate / baseline;
}

/** Extra cost of the candidate, question by question; empty if some price is unknown. */
function extraCosts(pairs: readonly Pair[]): number[] {
  const extra = pairs.flatMap(({ candidate, baseline }) =>
    candidate.nanoUsd === null || baseline.nanoUsd === null ? [] : [candidate.nanoUsd - baseline.nanoUsd],
  );
  return extra.length < pairs.length ? [] : extra;
}

function objectionsTo(
  { pairs, lowerBound: least, costRatio }: Figures,
  { maxCostRatio, margin }: GateRule,
  isCheaper: boolean,
): string[] {
  if (least === null) {
    return [
      `${pairs} held-out questions that both were graded on are too few, at least ${FEWEST_VALUES} are needed`,
    ];
  }
  const objections = least > 0 || (least > -margin && isCheaper) ? [] : ['its gain may be chance'];
  if (maxCostRatio === null) return objections;
  if (costRatio === null) {
    objections.push(
      'their costs cannot be compared, since a price is unknown: give each worker a "price" in conductor.yaml',
    );
  } else if (costRatio > maxCostRatio) {
    objections.push('it costs too much');
  }
  return objections;
}

function describe(
  pairs: readonly Pair[],
  { judgement, gain, lowerBound: least, smallestGain: smallest, costRatio }: Figures,
  { maxCostRatio }: GateRule,
): string {
  const reward = (which: keyof Pair): string =>
    meanOf(pairs.map((pair) => pair[which].reward))?.toFixed(3) ?? 'unknown';
  const allowed = maxCostRatio === null ? '' : `, where at most ${maxCostRatio} times is allowed`;
  const sure = Number((100 * (1 - riskOf(judgement))).toPrecision(4 + Math.floor(Math.log10(judgement))));
  return [
    `mean reward ${reward('candidate')} against ${reward('baseline')} on ${pairs.length} held-out questions, ` +
      `judgement ${judgement} on them`,
    ...(gain === null ? [] : [`gain ${signed(gain)}`]),
    ...(least === null ? [] : [`${sure} % sure of more than ${signed(least)}`]),
    ...(smallest === null ? [] : [`a gain of ${smallest.toFixed(3)} could have been found`]),
    costRatio === null ? 'cost unknown' : `${costRatio.toFixed(3)} times its cost${allowed}`,
  ].join(', ');
}

/** Planned power of a held-out set: this gain, through so many nights, if its gains have this spread. */
const PLANNED = { gain: 0.05, nights: 50, spread: 0.2, questions: 400 } as const;

/** Says what a set of held-out questions is too small for; null if it is large enough. */
export function describeSmallSet(questions: number): string | null {
  const { gain, nights, spread } = PLANNED;
  const [first, last] = [1, nights].map((night) =>
    smallestGain(questions, spread, riskOf(night))?.toFixed(2),
  );
  if (first === undefined || Number(last) <= gain) return null;
  return (
    `${questions} held-out questions are few: where their gains spread by ${spread}, the gate finds one of ${first} in ` +
    `the first night and of ${last} in the ${nights}th; ${gain} takes about ${PLANNED.questions} questions`
  );
}

/** Half as much again: answers of the held-out questions may be longer than those seen. */
const GATE_SPARE = 1.5;

/**
 * What a night keeps for its gate, of all that it may spend: what its rollouts cost at the mean so far and a half
 * more, but half of the budget at most. A quarter of it while no cost is known.
 */
export function costOfGate(budget: number, rollouts: number, nanoUsdEach: number | null): number {
  if (nanoUsdEach === null) return Math.floor(budget / 4);
  return Math.min(Math.floor(budget / 2), Math.ceil(GATE_SPARE * rollouts * nanoUsdEach));
}
