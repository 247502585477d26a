import { describePolicy, type PolicyRef } from './checkpoint-ref';
import type { CanaryDecision, GateDecision, JudgeCanaryRequest } from './contract';
import type { GroupRecord } from './rollout';
import { FEWEST_VALUES, lowerBound95, meanOf, upperBound95 } from './statistics';

/**
 * Decides whether a candidate may serve in place of its baseline: its reward must be higher beyond chance, and its mean
 * cost at most `maxCostRatio` times the baseline's. Beyond chance: the lower 95 % bound (one-sided, of the paired t
 * distribution over questions) of the mean difference of rewards lies above 0.
 */
export function decideGate(
  candidate: ScoredPolicy,
  baseline: ScoredPolicy,
  maxCostRatio: number,
): GateDecision {
  const pairs = pairUp(candidate.scores, baseline.scores);
  const gains = gainsOf(pairs);
  const gain = meanOf(gains);
  const figures = {
    pairs: pairs.length,
    gain,
    lowerBound: lowerBound95(gains),
    costRatio: costRatioOf(pairs),
  };
  const objections = objectionsTo(figures, maxCostRatio);
  const promoted = objections.length === 0;
  const [name, other] = [describePolicy(candidate.policy), describePolicy(baseline.policy)];
  const verdict = promoted
    ? `${name} beats ${other}`
    : `${name} does not replace ${other}: ${objections.join(', and ')}`;
  return { promoted, ...figures, sentence: `${verdict} (${describe(pairs, figures, maxCostRatio)})` };
}

type Figures = Omit<GateDecision, 'promoted' | 'sentence'>;

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

function objectionsTo({ pairs, lowerBound, costRatio }: Figures, maxCostRatio: number): string[] {
  if (lowerBound === null) {
    return [
      `${pairs} held-out questions that both were graded on are too few, at least ${FEWEST_VALUES} are needed`,
    ];
  }
  const objections = lowerBound > 0 ? [] : ['its gain may be chance'];
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
  { gain, lowerBound, costRatio }: Figures,
  maxCostRatio: number,
): string {
  const reward = (which: keyof Pair): string =>
    meanOf(pairs.map((pair) => pair[which].reward))?.toFixed(3) ?? 'unknown';
  return [
    `mean reward ${reward('candidate')} against ${reward('baseline')} on ${pairs.length} held-out questions`,
    ...(gain === null ? [] : [`gain ${signed(gain)}`]),
    ...(lowerBound === null ? [] : [`95 % sure of more than ${signed(lowerBound)}`]),
    costRatio === null
      ? 'cost unknown'
      : `${costRatio.toFixed(3)} times its cost, where at most ${maxCostRatio} times is allowed`,
  ].join(', ');
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}

/**
 * Decides whether a checkpoint that was just promoted is taken back, tried anew through the servers that now serve it:
 * where its weights are not the ones that were trained (the log-probabilities on the probe differ), where nothing
 * it answers can be graded although what it replaced can, and where it is worse than that beyond chance: the upper 95 %
 * bound of the paired difference of rewards lies below 0. Twenty questions are few: they find what is broken, not what is
 * a little worse, which was the gate's matter.
 */
export function decideCanary(
  promoted: ScoredPolicy,
  replaced: ScoredPolicy,
  { logprobGap, tolerance }: JudgeCanaryRequest['probe'],
): CanaryDecision {
  const gains = gainsOf(pairUp(promoted.scores, replaced.scores));
  const gain = meanOf(gains);
  const isGraded = replaced.scores.some(({ reward }) => reward !== null);
  const complaints = [
    ...(logprobGap <= tolerance ? [] : ['the servers have other weights than were trained']),
    ...((upperBound95(gains) ?? 0) < 0 ? ['it answers worse than before'] : []),
    ...(gain === null && isGraded ? ['none of its answers could be graded'] : []),
  ];
  const rolledBack = complaints.length > 0;
  const [name, before] = [describePolicy(promoted.policy), describePolicy(replaced.policy)];
  const verdict = rolledBack
    ? `${name} gives way to ${before} again: ${complaints.join(', and ')}`
    : `${name} serves, and was tried once more as it does`;
  const figures =
    gain === null ? 'no reward to compare' : `gain ${signed(gain)} on ${gains.length} questions`;
  const probe = `log-probabilities ${logprobGap} off the trainer's, where at most ${tolerance} is allowed`;
  return { rolledBack, sentence: `${verdict} (${figures}, ${probe})` };
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
 * Sums up the groups in which a policy was tried, a score for each question. Where rollouts were reviewed in a second
 * round, its answers count in place of theirs, and both are paid for: so it is when a policy serves.
 */
export function scoreQuestions(groups: readonly GroupRecord[]): QuestionScore[] {
  const questions = [...new Set(groups.map(({ question }) => question))];
  return questions.map((question) => ({
    question,
    ...scoreRounds(groups.filter((group) => group.question === question)),
  }));
}

function scoreRounds(rounds: readonly GroupRecord[]): Omit<QuestionScore, 'question'> {
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
