import type { LimitsInput } from '../protocol/activities';
import type { SolveInput, SolveTrace } from '../protocol/solve';
import { RefusedError } from './refused-error';

/** From where a run is run again, and what is to be different there. */
export interface RetryRequest {
  /** Index of the step, from 0. What steps before it gave is kept. */
  readonly from: number;
  /** Another worker for that step. */
  readonly worker?: string;
  /** Another task for that step. */
  readonly subtask?: string;
  /** Limits that shall differ from those of the earlier run; what it had spent does not count. */
  readonly limits?: LimitsInput;
}

/**
 * The input of a run that goes on from a step of an earlier one: its question, its pool and limits, and its first plan,
 * with the outputs that are kept. A step before it that had failed is run again, too.
 *
 * @throws RefusedError where there is no such step, no plan, or the run belongs to another one
 */
export function retryInput(before: SolveInput, trace: SolveTrace, request: RetryRequest): SolveInput {
  const { parent, ...input } = before;
  if (parent !== undefined) {
    throw new RefusedError(`run ${trace.id} was started by another one: retry ${parent.rootId} instead`);
  }
  const first = trace.rounds.find(({ childId }) => childId === null);
  const planned = first?.plan?.steps ?? [];
  const { from, worker, subtask, limits } = request;
  if (first === undefined || planned[from] === undefined) throw noSuchStep(trace.id, from, planned.length);
  const steps = planned.map((step, index) =>
    index === from ? { ...step, ...(worker && { worker }), ...(subtask && { subtask }) } : step,
  );
  const outputs = first.steps.map(({ index, output, error }) =>
    index < from && error === null ? output : null,
  );
  return {
    ...input,
    ...(limits && { limits: { ...input.limits, ...limits } }),
    given: { plan: { steps }, outputs },
  };
}

function noSuchStep(id: string, from: number, count: number): RefusedError {
  return new RefusedError(
    count === 0
      ? `run ${id} has no plan to go on from`
      : `the first plan of run ${id} has no step ${from + 1}: name one from 1 to ${count}`,
  );
}
