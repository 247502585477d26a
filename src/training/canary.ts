import { describePolicy, type CanaryDecision, type JudgeCanaryRequest } from './evaluation';
import { meanOf, upperBound95 } from './mean-bound';
import { gainsOf, pairUp } from './pairs';
import type { ScoredPolicy } from './score';

/**
 * Decides whether a checkpoint that was just promoted is taken back, tried anew through the servers that now serve it.
 *
 * It is where its weights are not the ones that were trained (the log-probabilities on the probe differ), where nothing
 * it answers can be graded although what it replaced can, and where it is worse than that beyond chance: the upper 95 %
 * bound of the paired difference of rewards lies below 0. Twenty questions are few: they find what is broken, not what is
 * a little worse, which was the gate's matter.
 */
export function decideCanary(
  promoted: ScoredPolicy,
  replaced: ScoredPolicy,
  probe: JudgeCanaryRequest['probe'],
): CanaryDecision {
  const gains = gainsOf(pairUp(promoted.scores, replaced.scores));
  const gain = meanOf(gains);
  const bound = upperBound95(gains);
  const complaints = [
    ...(probe.logprobGap <= probe.tolerance ? [] : ['the servers have other weights than were trained']),
    ...(bound === null || bound >= 0 ? [] : ['it answers worse than before']),
    ...(gain === null && isGraded(replaced) ? ['none of its answers could be graded'] : []),
  ];
  const rolledBack = complaints.length > 0;
  const [name, before] = [describePolicy(promoted.policy), describePolicy(replaced.policy)];
  const verdict = rolledBack
    ? `${name} gives way to ${before} again: ${complaints.join(', and ')}`
    : `${name} serves as it was tried`;
  return { rolledBack, sentence: `${verdict} (${describe(gains, probe)})` };
}

function isGraded({ scores }: ScoredPolicy): boolean {
  return scores.some(({ reward }) => reward !== null);
}

function describe(gains: readonly number[], { logprobGap, tolerance }: JudgeCanaryRequest['probe']): string {
  const gain = meanOf(gains);
  const figures =
    gain === null ? 'no reward to compare' : `gain ${gain.toFixed(3)} on ${gains.length} questions`;
  return `${figures}, log-probabilities within ${logprobGap} of at most ${tolerance}`;
}
