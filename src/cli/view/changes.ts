import type { Retry } from '../../client/conductor-client';
import type { RoundTrace, SolveTrace, StepTrace } from '../../protocol/solve';
import { previewOf } from '../../protocol/text';
import {
  counted,
  describeDuration,
  describeEnd,
  describeEstimate,
  describePlanning,
  describeSteps,
  describeWorker,
  howToApprove,
  isKept,
  stateOf,
} from '../../trace/describe';
import { whoStandsIn } from '../../trace/degraded';
import { oneLine } from '../../trace/lines';
import { pathOf, waitingRuns } from '../../trace/run-tree';

const PREVIEW_COLUMNS = 120;

/** Describes what happened between two looks at a run, a plain line an event: the view for logs and pipes. */
export function describeChanges(before: SolveTrace | null, after: SolveTrace): string[] {
  const known = before === null ? [] : waitingRuns(before);
  const standing = before === null ? [] : whoStandsIn(before);
  const waiting = waitingRuns(after).filter((id) => !known.includes(id));
  return [
    ...(before === null ? [`${after.id}: ${clip(previewOf(after.question))}`] : []),
    ...after.rounds.flatMap((round) => {
      const path = pathOf(after, round);
      const estimate = round.childId === null ? describeEstimates(before, after) : [];
      const earlier = before?.rounds.find(
        (old) => old.childId === round.childId && old.round === round.round,
      );
      return describeRound(earlier, round, estimate).map((line) => path + line);
    }),
    ...whoStandsIn(after)
      .filter((line) => !standing.includes(line))
      .map((line) => `degraded: ${line}`),
    ...waiting.map((id) => `${id} waits for approval of its plan: ${howToApprove(id)}`),
    ...(after.status !== 'running' && before?.status !== after.status ? [describeEnd(after)] : []),
  ];
}

/** Why a call waits for another attempt. */
export function describeRetry({ attempt, reason }: Retry): string {
  return `attempt ${attempt - 1} failed, trying again: ${reason}`;
}

function describeRound(
  before: RoundTrace | undefined,
  after: RoundTrace,
  estimate: readonly string[],
): string[] {
  const asked = before === undefined ? [describePlanning(after)] : [];
  const failed =
    after.decision === 'failed' && before?.decision !== 'failed' ? ['this produced no answer'] : [];
  if (after.plan === null) return [...asked, ...failed];
  // A plan that was rejected or edited is another one.
  const planned = isSame(before?.plan, after.plan) ? [] : describePlan(after.plan, after.steps);
  const steps = after.steps.flatMap((step, index) => describeStep(before?.steps[index], step));
  return [...asked, ...planned, ...estimate, ...steps, ...failed];
}

function describePlan(plan: NonNullable<RoundTrace['plan']>, steps: readonly StepTrace[]): string[] {
  if (plan.steps.length === 0) return ['the Conductor accepts the answer'];
  const waves = new Set(steps.map(({ wave }) => wave)).size;
  const size = `${counted(plan.steps.length, 'step')} in ${counted(waves, 'wave')}`;
  return [`plan: ${size}`, ...describeSteps(plan, clip)];
}

function describeStep(before: StepTrace | undefined, after: StepTrace): string[] {
  const state = stateOf(after);
  const isNews = before === undefined || stateOf(before) !== state || before.worker !== after.worker;
  if (!isNews || state === 'waiting') return [];
  const { startedAt, endedAt, output, error } = after;
  const who = `step ${after.index + 1} (${describeWorker(after)})`;
  if (state === 'running') return [`${who} started`];
  const time = startedAt === null ? '' : ` in ${describeDuration(startedAt, endedAt)}`;
  if (error !== null) return [`${who} failed${time}: ${error.message}`];
  return [`${who} ${isKept(after) ? 'kept' : `done${time}`}: ${clip(previewOf(output ?? ''))}`];
}

function describeEstimates(before: SolveTrace | null, { estimate }: SolveTrace): string[] {
  if (estimate === undefined || isSame(before?.estimate, estimate)) return [];
  return [`the plan comes to ${describeEstimate(estimate)}`];
}

function isSame(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

function clip(text: string): string {
  return oneLine(text, PREVIEW_COLUMNS);
}
