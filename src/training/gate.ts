import { describePolicy, type PolicyRef } from './checkpoint-ref';
import type { CanaryDecision, GateDecision, JudgeCanaryRequest } from './contract';
import type { GroupRecord } from './rollout';
import {
  FEWEST_VALUES,
  lowerBound,
  meanOf,
  riskOf,
  smallestGain,
  spreadOf,
  upperBound,
} from '../evaluation/statistics';

/** What holds for a judgement. */
export interface GateRule {
  /** What a candidate may cost at most in costs of its baseline; null: whatever it does. */
  readonly maxCostRatio: number | null;
  /** How much less reward is taken for not worse. */
  readonly margin: number;
  /** The how-manieth this is on these questions, from 1. */
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
  const candidate = meanCost(pairs.map((pair) => pair.candidate));
  const baseline = meanCost(pairs.map((pair) => pair.baseline));
  if (candidate === null || baseline === null) return null;
  return candidate === baseline ? 1 : candidate / baseline;
}

function meanCost(scores: readonly QuestionScore[]): number | null {
  const costs = scores.flatMap(({ nanoUsd }) => nanoUsd ?? []);
  return costs.length < scores.length ? null : meanOf(costs);
}

/** What the candidate costs more, question by question; nothing where some price is unknown. */
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

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}

/** What a set of held-out questions should find, through how many nights, where its gains have this spread. */
const PLANNED = { gain: 0.05, nights: 50, spread: 0.2, questions: 400 } as const;

/** What a set of held-out questions is too small for, in a sentence; null where it is large enough. */
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

const CANARY_RISK = 0.05;

/** Weights that hardly differ from their parent's must not be taken for these by chance. */
const STALE_RISK = 0.001;

/**
 * Decides whether a checkpoint that was just promoted is taken back, tried anew through the servers that now serve it:
 * where what they wrote is not what its weights would have written (the log-probabilities differ by more than is
 * tolerated, or, beyond chance, by more than from the checkpoint before it: yesterday's weights), where nothing it answers can be graded although what it replaced can, and where it is worse than that beyond chance: the upper 95 %
 * bound of the paired difference of rewards lies below 0. Twenty questions are few: they find what is broken, not what is
 * a little worse, which was the gate's matter.
 */
export function decideCanary(
  promoted: ScoredPolicy,
  replaced: ScoredPolicy,
  compared: Compared,
): CanaryDecision {
  const gains = gainsOf(pairUp(promoted.scores, replaced.scores));
  const gain = meanOf(gains);
  const isGraded = replaced.scores.some(({ reward }) => reward !== null);
  const complaints = [
    ...complaintsOf(compared),
    ...((upperBound(gains, CANARY_RISK) ?? 0) < 0 ? ['it answers worse than before'] : []),
    ...(gain === null && isGraded ? ['none of its answers could be graded'] : []),
  ];
  const rolledBack = complaints.length > 0;
  const [name, before] = [describePolicy(promoted.policy), describePolicy(replaced.policy)];
  const verdict = rolledBack
    ? `${name} gives way to ${before} again: ${complaints.join(', and ')}`
    : `${name} serves, and was tried once more as it does`;
  const figures =
    gain === null ? 'no reward to compare' : `gain ${signed(gain)} on ${gains.length} questions`;
  return { rolledBack, sentence: `${verdict} (${[figures, ...describeGaps(compared)].join(', ')})` };
}

type Compared = Pick<JudgeCanaryRequest, 'probe' | 'gaps'>;

const OTHER_WEIGHTS = 'the servers have other weights than were trained';

function complaintsOf({ probe, gaps }: Compared): string[] {
  if (probe !== undefined) return probe.logprobGap <= probe.tolerance ? [] : [OTHER_WEIGHTS];
  if (!gaps) return [];
  const { own, parent, tolerance } = gaps;
  const further = parent === null ? [] : own.map((gap, at) => gap - (parent[at] ?? gap));
  const isStale = (lowerBound(further, STALE_RISK) ?? 0) > 0;
  return [
    // Written so that NaN complains.
    ...((meanOf(own) ?? 0) <= tolerance ? [] : [OTHER_WEIGHTS]),
    ...(isStale ? ['the servers answer with the weights before these'] : []),
  ];
}

function describeGaps({ probe, gaps }: Compared): string[] {
  if (probe !== undefined) {
    const { logprobGap, tolerance } = probe;
    return [`log-probabilities ${logprobGap} off the trainer's, where at most ${tolerance} is allowed`];
  }
  if (!gaps) return [];
  const { own, parent, tolerance } = gaps;
  const mean = (values: readonly number[]): string => meanOf(values)?.toPrecision(2) ?? 'unknown';
  const before = parent === null ? '' : ` and ${mean(parent)} off those of the checkpoint before it`;
  return [`log-probabilities ${mean(own)} off its own${before}, where ${tolerance} is tolerated`];
}

type Pair = Record<'candidate' | 'baseline', QuestionScore & { readonly reward: number }>;

/** The questions on which both could be graded. One on which only one of them could counts for neither. */
function pairUp(candidate: readonly QuestionScore[], baseline: readonly QuestionScore[]): Pair[] {
  const others = new Map(baseline.map((score) => [score.question, score]));
  return candidate.flatMap((score) => {
    const other = others.get(score.question);
    if (score.reward === null || other === undefined || other.reward === null) return [];
    return [{ candidate: { ...score, reward: score.reward }, baseline: { ...other, reward: other.reward } }];
  });
}

function gainsOf(pairs: readonly Pair[]): number[] {
  return pairs.map(({ candidate, baseline }) => candidate.reward - baseline.reward);
}

/** What one policy earned on one question. */
export interface QuestionScore {
  /** Its id. */
  readonly question: string;
  /** Mean over the rollouts that could be graded; null where none could. */
  readonly reward: number | null;
  /** Mean cost of a rollout, all its rounds together, in 10⁻⁹ USD; null where a price is unknown. */
  readonly nanoUsd: number | null;
}

export interface ScoredPolicy {
  readonly policy: PolicyRef;
  readonly scores: readonly QuestionScore[];
}

/**
 * Sums up the groups in which a policy was tried, a score for each question. One that was asked of several teams counts
 * as the mean of them.
 */
export function scoreQuestions(groups: readonly GroupRecord[]): QuestionScore[] {
  return valuesOf(groups, 'question').map((question) => {
    const asked = groups.filter((group) => group.question === question);
    const teams = valuesOf(asked, 'draw').map((draw) =>
      scoreRounds(asked.filter((group) => group.draw === draw)),
    );
    return {
      question,
      reward: meanOfAll(teams.map(({ reward }) => reward)),
      nanoUsd: meanOfAll(teams.map(({ nanoUsd }) => nanoUsd)),
    };
  });
}

function valuesOf<Key extends keyof GroupRecord>(
  groups: readonly GroupRecord[],
  key: Key,
): GroupRecord[Key][] {
  return [...new Set(groups.map((group) => group[key]))];
}

function meanOfAll(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length < values.length ? null : meanOf(known);
}

/**
 * Sums up the rounds of one group. Where rollouts were reviewed in a second round, its answers count in place of theirs,
 * and both are paid for: so it is when a policy serves.
 */
export function scoreRounds(rounds: readonly GroupRecord[]): Omit<QuestionScore, 'question'> {
  const [first, ...reviews] = rounds.toSorted((a, b) => a.round - b.round);
  const reviewing = reviews.flatMap(({ rollouts }) => rollouts);
  const reviewed = new Set(reviewing.map(({ root }) => root));
  const begun = first?.rollouts ?? [];
  const final = [...begun.filter(({ index }) => !reviewed.has(index)), ...reviewing];
  const costs = [...begun, ...reviewing].map(({ nanoUsd }) => nanoUsd);
  const known = costs.filter((nanoUsd) => nanoUsd !== null);
  const isKnown = final.length > 0 && known.length === costs.length;
  return {
    reward: meanOf(final.flatMap(({ reward }) => reward ?? [])),
    nanoUsd: isKnown ? known.reduce((sum, nanoUsd) => sum + nanoUsd, 0) / final.length : null,
  };
}
