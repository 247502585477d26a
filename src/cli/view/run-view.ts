import type { Retry } from '../../client/conductor-client';
import type { SolveTrace } from '../../protocol/solve';
import { isUnbegun } from '../../trace/run-tree';
import { describeChanges, describeRetry } from './changes';
import { drawFrame } from './frame';
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
