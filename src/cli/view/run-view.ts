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
  whoStandsIn,
} from '../../trace/describe';
import { oneLine } from '../../trace/lines';
import { isUnbegun, pathOf, waitingRuns } from '../../trace/run-tree';
import { describeRetry, drawFrame } from './frame';
import type { Look } from './open-view';

/** A run, and its calls that wait for another attempt. */
export interface RunState {
  readonly trace: SolveTrace;
  readonly retries: readonly Retry[];
}

/** How a run looks. @param isAsked a person is asked about plans that wait */
export function lookOfRun(isAsked: boolean): Look<RunState> {
  const toldOf = (trace: SolveTrace): SolveTrace => (isAsked ? withoutUnbegun(trace) : trace);
  return {
    draw: ({ trace, retries }, { now, ...frame }) =>
      drawFrame(trace, trace.status === 'running' ? retries : [], {
        ...frame,
        now: new Date(now).toISOString(),
      }),
    tell: (before, after) => {
      // Once it waits, the person has seen all of it.
      const seen = before && (before.trace.waitsFor === undefined ? toldOf(before.trace) : before.trace);
      const known = before?.retries.map(describeRetry) ?? [];
      const retries = new Set(after.retries.map(describeRetry).filter((line) => !known.includes(line)));
      return [...describeChanges(seen, toldOf(after.trace)), ...retries];
    },
  };
}

/** A plan that may have to wait is shown to the person who is asked about it, else once its first step begins. */
function withoutUnbegun(trace: SolveTrace): SolveTrace {
  if (trace.status !== 'running') return trace;
  const rounds = trace.rounds.map((round) =>
    isUnbegun(round) ? { ...round, plan: null, steps: [] } : round,
  );
  const shown = { ...trace, rounds };
  if (trace.rounds.some((round) => round.childId === null && isUnbegun(round))) delete shown.estimate;
  return shown;
}

/** Describes what is new since the last look at a run, a plain line an event: the view for logs and pipes. */
export function describeChanges(before: SolveTrace | null, after: SolveTrace): string[] {
  const known = new Set(before === null ? [] : describeRun(before));
  return describeRun(after).filter((line) => !known.has(line));
}

function describeRun(trace: SolveTrace): string[] {
  const { id, question, rounds, status } = trace;
  return [
    `${id}: ${clip(previewOf(question))}`,
    ...rounds.flatMap((round) => describeRound(trace, round).map((line) => pathOf(trace, round) + line)),
    ...whoStandsIn(trace).map((line) => `degraded: ${line}`),
    ...waitingRuns(trace).map((run) => `${run} waits for approval of its plan: ${howToApprove(run)}`),
    ...(status === 'running' ? [] : [describeEnd(trace)]),
  ];
}

function describeRound({ estimate }: SolveTrace, round: RoundTrace): string[] {
  const { plan, steps, decision, childId } = round;
  const lines = [describePlanning(round)];
  if (plan?.steps.length === 0) lines.push('the Conductor accepts the answer');
  else if (plan !== null) {
    const waves = counted(new Set(steps.map(({ wave }) => wave)).size, 'wave');
    lines.push(`plan: ${counted(plan.steps.length, 'step')} in ${waves}`, ...describeSteps(plan, clip));
  }
  if (estimate !== undefined && childId === null && plan !== null)
    lines.push(`the plan comes to ${describeEstimate(estimate)}`);
  lines.push(...steps.flatMap(describeStep));
  if (decision === 'failed') lines.push('this produced no answer');
  return lines;
}

function describeStep(step: StepTrace): string[] {
  const { index, startedAt, endedAt, output, error } = step;
  const state = stateOf(step);
  const who = `step ${index + 1} (${describeWorker(step)})`;
  if (state === 'waiting') return [];
  if (state === 'running') return [`${who} started`];
  const time = startedAt === null ? '' : ` in ${describeDuration(startedAt, endedAt)}`;
  if (error !== null) return [`${who} failed${time}: ${error.message}`];
  return [`${who} ${isKept(step) ? 'kept' : `done${time}`}: ${clip(previewOf(output ?? ''))}`];
}

const PREVIEW_COLUMNS = 120;

function clip(text: string): string {
  return oneLine(text, PREVIEW_COLUMNS);
}
