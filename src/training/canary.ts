import { lowerBound, meanOf, signed, upperBound } from '../evaluation/statistics';
import { describePolicy } from './checkpoint-ref';
import type { CanaryDecision, CanaryGaps } from './contract';
import { gainsOf, pairUp, type ScoredPolicy } from './scores';

const CANARY_RISK = 0.05;

/** Weights that hardly differ from their parent's must not be taken for these by chance. */
const STALE_RISK = 0.001;

/**
 * Decides whether a checkpoint that was just promoted is taken back, tried anew through the servers that now serve it:
 * where what they wrote is not what its weights would have written (the log-probabilities differ by more than is
 * tolerated, or, beyond chance, by more than from the checkpoint before it: yesterday's weights), where nothing it
 * answers can be graded although what it replaced can, and where it is worse than that beyond chance: the upper 95 %
 * bound of the paired difference of rewards lies below 0. Twenty questions are few: they find what is broken, not what
 * is a little worse, which was the gate's matter.
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
  const verdict = rolledBack
    ? `Rolled back ${name} to ${before}: ${complaints.join(', and ')}`
    : `${name} serves, and was tried once more as it does`;
  const figures =
    gain === null ? 'no reward to compare' : `gain ${signed(gain)} on ${gains.length} questions`;
  return { rolledBack, sentence: `${verdict} (${[figures, ...describeGaps(gaps)].join(', ')})` };
}

const OTHER_WEIGHTS = 'the servers have other weights than were trained';

function complaintsOf(gaps: CanaryGaps | null): string[] {
  if (gaps === null) return [];
  const { own, parent, tolerance } = gaps;
  const further = parent === null ? [] : own.map((gap, at) => gap - (parent[at] ?? gap));
  const isStale = (lowerBound(further, STALE_RISK) ?? 0) > 0;
  return [
    // Written so that NaN complains.
    ...((meanOf(own) ?? 0) <= tolerance ? [] : [OTHER_WEIGHTS]),
    ...(isStale ? ['the servers answer with the weights before these'] : []),
  ];
}

function describeGaps(gaps: CanaryGaps | null): string[] {
  if (gaps === null) return [];
  const { own, parent, tolerance } = gaps;
  const mean = (values: readonly number[]): string => meanOf(values)?.toPrecision(2) ?? 'unknown';
  const before = parent === null ? '' : ` and ${mean(parent)} off those of the checkpoint before it`;
  return [`log-probabilities ${mean(own)} off its own${before}, where ${tolerance} is tolerated`];
}
