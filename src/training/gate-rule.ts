import { signed } from '../trace/lines';
import {
  FEWEST_VALUES,
  lowerBound,
  meanOf,
  meanOfAll,
  riskOf,
  smallestGain,
  spreadOf,
  upperBound,
} from '../statistics/statistics';
import type { CanaryGaps } from './contract';
import { gainsOf, type Pair, pairUp, type ScoredPolicy } from './rewards';
import { describePolicy } from './names';
import type { CanaryDecision, GateDecision } from './records';

export interface GateRule {
  /** Highest allowed cost of a candidate relative to its baseline; null: any. */
  readonly maxCostRatio: number | null;
  readonly margin: number;
  readonly judgement: number;
}

/**
 * Decides whether a candidate may replace its baseline: its reward must be higher, or, if it is cheaper, not lower by
 * `margin`; and it may cost no more than `maxCostRatio` allows. Each comparison must hold beyond chance: by one-sided
 * bounds of the paired t distribution over questions, at the risk that `riskOf` allows.
 */
export function decideGate(candidate: ScoredPolicy, baseline: ScoredPolicy, rule: GateRule): GateDecision {
  const pairs = pairUp(candidate.scores, baseline.scores);
  const gains = gainsOf(pairs);
  const { judgement } = rule;
  const risk = riskOf(judgement);
  const figures = {
    judgement,
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

/** Candidate's mean cost relative to the baseline's, 1 if both are free; null if a price is unknown. */
function costRatioOf(pairs: readonly Pair[]): number | null {
  const candidate = meanOfAll(pairs.map((pair) => pair.candidate.nanoUsd));
  const baseline = meanOfAll(pairs.map((pair) => pair.baseline.nanoUsd));
  if (candidate === null || baseline === null) return null;
  return candidate === baseline ? 1 : candidate / baseline;
}

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
  const few = `only ${pairs} held-out questions were graded for both`;
  if (least === null) return [`${few}, but at least ${FEWEST_VALUES} are needed`];
  const unpriced =
    'their costs cannot be compared, since a price is unknown: give each worker a "price" in the configuration';
  const isBarred = maxCostRatio !== null && (costRatio === null || costRatio > maxCostRatio);
  return [
    ...(least > 0 || (least > -margin && isCheaper) ? [] : ['its gain may be chance']),
    ...(isBarred ? [costRatio === null ? unpriced : 'it costs too much'] : []),
  ];
}

function describe(
  pairs: readonly Pair[],
  { judgement, gain, lowerBound: least, smallestGain: smallest, costRatio }: Figures,
  { maxCostRatio }: GateRule,
): string {
  const reward = (which: keyof Pair): string =>
    meanOf(pairs.map((pair) => pair[which].reward))?.toFixed(3) ?? 'unknown';
  const allowed = maxCostRatio === null ? '' : `, at most ${maxCostRatio} times allowed`;
  const sure = Number((100 * (1 - riskOf(judgement))).toPrecision(4 + Math.floor(Math.log10(judgement))));
  return [
    `mean reward ${reward('candidate')} against ${reward('baseline')} on ${pairs.length} held-out questions, ` +
      `decision ${judgement} on this set`,
    ...(gain === null ? [] : [`gain ${signed(gain)}`]),
    ...(least === null ? [] : [`more than ${signed(least)} with ${sure} % confidence`]),
    ...(smallest === null ? [] : [`smallest detectable gain ${smallest.toFixed(3)}`]),
    costRatio === null ? 'cost unknown' : `${costRatio.toFixed(3)} times its cost${allowed}`,
  ].join(', ');
}

/** Planned power: a set of `questions` detects `gain` throughout `nights` if gains spread by `spread`. */
const PLANNED = { gain: 0.05, nights: 50, spread: 0.2, questions: 400 } as const;

/** Describes the power of a set with too few held-out questions; null if it has enough. */
export function describeSmallSet(questions: number): string | null {
  const { gain, nights, spread } = PLANNED;
  const [first, last] = [1, nights].map((night) =>
    smallestGain(questions, spread, riskOf(night))?.toFixed(2),
  );
  if (first === undefined || Number(last) <= gain) return null;
  return (
    `${questions} held-out questions are few: with a standard deviation of ${spread}, the gate detects a gain of ` +
    `${first} in the first night and of ${last} in the ${nights}th; detecting ${gain} takes about ` +
    `${PLANNED.questions} questions`
  );
}

/** Safety factor, since answers to held-out questions may be longer than those seen. */
const GATE_SPARE = 1.5;

/** Returns the money reserved for the gate: half of the budget at most, a quarter while no rollout's cost is known. */
export function costOfGate(budget: number, rollouts: number, nanoUsdEach: number | null): number {
  if (nanoUsdEach === null) return Math.floor(budget / 4);
  return Math.min(Math.floor(budget / 2), Math.ceil(GATE_SPARE * rollouts * nanoUsdEach));
}

const CANARY_RISK = 0.05;

/** Lower risk: weights that hardly differ from their parent's must not count as stale by chance. */
const STALE_RISK = 0.001;

/**
 * Decides whether to undo a promotion: if the servers have other weights, if only the replaced policy's answers can be
 * graded, or if it is worse beyond chance. Twenty questions detect what is broken; the gate judged the rest.
 */
export function decideCanary(
  promoted: ScoredPolicy,
  replaced: ScoredPolicy,
  gaps: CanaryGaps | null,
): CanaryDecision {
  const gains = gainsOf(pairUp(promoted.scores, replaced.scores));
  const gain = meanOf(gains);
  const isGraded = replaced.scores.some(({ reward }) => reward !== null);
  const complaints = [
    ...complaintsOf(gaps),
    ...((upperBound(gains, CANARY_RISK) ?? 0) < 0 ? ['it answers worse than before'] : []),
    ...(gain === null && isGraded ? ['none of its answers could be graded'] : []),
  ];
  const rolledBack = complaints.length > 0;
  const [name, before] = [describePolicy(promoted.policy), describePolicy(replaced.policy)];
  const outcome =
    promoted.scores.length === 0
      ? 'was not checked on the serving address, since no money was left for a question there'
      : 'passed the check on the serving address';
  const verdict = rolledBack
    ? `Rolled back ${name} to ${before}: ${complaints.join(', and ')}`
    : `${name} serves, and ${outcome}`;
  const figures =
    gain === null ? 'no reward to compare' : `gain ${signed(gain)} on ${gains.length} questions`;
  return { rolledBack, sentence: `${verdict} (${[figures, ...describeGaps(gaps)].join(', ')})` };
}

function complaintsOf(gaps: CanaryGaps | null): string[] {
  if (gaps === null) return [];
  const { own, parent, tolerance } = gaps;
  const further = parent === null ? [] : own.map((gap, at) => gap - (parent[at] ?? gap));
  const isStale = (lowerBound(further, STALE_RISK) ?? 0) > 0;
  return [
    // A NaN fails this comparison, and so counts as a complaint.
    ...((meanOf(own) ?? 0) <= tolerance ? [] : ["the servers' weights differ from the trained ones"]),
    ...(isStale ? ['the servers still answer with the previous weights'] : []),
  ];
}

function describeGaps(gaps: CanaryGaps | null): string[] {
  if (gaps === null) return [];
  const { own, parent, tolerance } = gaps;
  const mean = (values: readonly number[]): string => meanOf(values)?.toPrecision(2) ?? 'unknown';
  const before = parent === null ? '' : ` and by ${mean(parent)} from the previous checkpoint's`;
  return [`log-probabilities differ by ${mean(own)} from the trainer's${before}, tolerance ${tolerance}`];
}
