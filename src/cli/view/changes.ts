import type { Retry } from '../../client/run-tree';
import type { RoundTrace, SolveTrace, StepTrace } from '../../protocol/solve';
import { previewOf } from '../../protocol/text';
import {
  counted,
  describeCost,
  describeDuration,
  describeEstimate,
  describeSees,
  describeTokens,
  describeWorker,
  howToApprove,
  isKept,
  stateOf,
} from '../../trace/describe';
import { oneLine } from '../../trace/lines';
import { isReview, pathOf, waitingRuns } from '../../trace/run-tree';

const PREVIEW_COLUMNS = 120;

/** What happened between two looks at a run, a plain line an event: the view for logs and pipes. */
export function describeChanges(before: SolveTrace | null, after: SolveTrace): string[] {
  return [
    ...(before === null ? [`${after.id}: ${clip(previewOf(after.question))}`] : []),
    ...after.rounds.flatMap((round) => {
      const path = pathOf(after, round);
      const estimate = round.childId === null ? describeEstimates(before, after) : [];
      return describeRound(sameRound(before, round), round, estimate).map((line) => path + line);
    }),
    ...describeWaits(before, after),
    ...(isEnd(before, after) ? [describeEnd(after)] : []),
  ];
}

/** Why a call waits for another attempt. */
export function describeRetry({ attempt, reason }: Retry): string {
  return `attempt ${attempt - 1} failed, trying again: ${reason}`;
}

function sameRound(trace: SolveTrace | null, { childId, round }: RoundTrace): RoundTrace | undefined {
  return trace?.rounds.find((each) => each.childId === childId && each.round === round);
}

function describeRound(
  before: RoundTrace | undefined,
  after: RoundTrace,
  estimate: readonly string[],
): string[] {
  const doing = isReview(after) ? 'reviewing the answer' : 'writing a plan';
  const asked = before === undefined ? [`the Conductor is ${doing}`] : [];
  const failed = after.decision === 'failed' && before?.decision !== 'failed' ? ['no answer came of it'] : [];
  if (after.plan === null) return [...asked, ...failed];
  // A plan that was rejected or edited is another one.
  const planned = isSame(before?.plan, after.plan) ? [] : describePlan(after);
  const steps = after.steps.flatMap((step, index) => describeStep(before?.steps[index], step));
  return [...asked, ...planned, ...estimate, ...steps, ...failed];
}

function describePlan({ plan, steps }: RoundTrace): string[] {
  if (plan?.steps.length === 0) return ['the Conductor accepts the answer'];
  const waves = new Set(steps.map((step) => step.wave)).size;
  const list = (plan?.steps ?? []).map(({ worker, subtask, sees }, index) => {
    const who = [worker, describeSees(sees)].filter((part) => part !== '').join(', ');
    return `  step ${index + 1} (${who}): ${clip(subtask)}`;
  });
  return [`plan: ${counted(list.length, 'step')} in ${counted(waves, 'wave')}`, ...list];
}

function describeStep(before: StepTrace | undefined, after: StepTrace): string[] {
  const state = stateOf(after);
  const isNews = before === undefined || stateOf(before) !== state || before.worker !== after.worker;
  if (!isNews || state === 'waiting') return [];
  const who = `step ${after.index + 1} (${describeWorker(after)})`;
  if (state === 'running') return [`${who} started`];
  if (state === 'failed') return [`${who} failed${timeOf(after)}: ${after.error?.message ?? ''}`];
  return [`${who} ${isKept(after) ? 'kept' : `done${timeOf(after)}`}: ${outputOf(after)}`];
}

function outputOf({ output }: StepTrace): string {
  return output === null ? '' : clip(previewOf(output));
}

function describeEstimates(before: SolveTrace | null, { estimate }: SolveTrace): string[] {
  if (estimate === undefined || isSame(before?.estimate, estimate)) return [];
  return [`the plan comes to ${describeEstimate(estimate)}`];
}

function describeWaits(before: SolveTrace | null, after: SolveTrace): string[] {
  const known = before === null ? [] : waitingRuns(before);
  const fresh = waitingRuns(after).filter((id) => !known.includes(id));
  return fresh.map((id) => `${id} waits for approval of its plan: ${howToApprove(id)}`);
}

function isSame(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

function isEnd(before: SolveTrace | null, after: SolveTrace): boolean {
  return after.status !== 'running' && before?.status !== after.status;
}

function describeEnd(trace: SolveTrace): string {
  const { status, degraded, stoppedBy } = trace;
  const facts = [
    degraded ? `${status}, degraded` : status,
    stoppedBy === null ? '' : `stopped by ${stoppedBy}`,
    describeTokens(trace),
    describeCost(trace),
  ];
  return facts.filter((fact) => fact !== '').join(' · ');
}

function timeOf({ startedAt, endedAt }: StepTrace): string {
  return startedAt === null || endedAt === null ? '' : ` in ${describeDuration(startedAt, endedAt)}`;
}

function clip(text: string): string {
  return oneLine(text, PREVIEW_COLUMNS);
}
