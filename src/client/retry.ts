import type { PlanContext } from '../plan/plan';
import type { LimitsInput } from '../protocol/activities';
import type { SolveInput } from '../protocol/input';
import { planContextOf } from '../protocol/run';
import { CONDUCTOR_ID } from '../protocol/names';
import type { SolveTrace } from '../protocol/solve';
import { RefusedError } from './steer';
import type { RunOrigin } from './trace-reader';

export interface RetryRequest {
  /** Index of the step, from 0. What steps before it gave is kept. */
  readonly from: number;
  readonly worker?: string;
  readonly subtask?: string;
  /** Limits that differ from those of the earlier run; what it had spent does not count. */
  readonly limits?: LimitsInput;
}

/**
 * The input of a run that goes on from a step of an earlier one. An earlier step that had failed is run again, too.
 *
 * @throws RefusedError where there is no such step, no plan, or the run is a child
 */
export function retryInput(before: SolveInput, trace: SolveTrace, request: RetryRequest): SolveInput {
  const { parent, ...input } = before;
  if (parent !== undefined) {
    throw new RefusedError(`run ${trace.id} was started by another one: retry ${parent.rootId} instead`);
  }
  const first = trace.rounds.find(({ childId }) => childId === null);
  const planned = first?.plan?.steps ?? [];
  const { from, worker, subtask, limits } = request;
  if (first === undefined || planned[from] === undefined) {
    throw new RefusedError(
      planned.length === 0
        ? `run ${trace.id} has no plan to go on from`
        : `the first plan of run ${trace.id} has no step ${from + 1}: name one from 1 to ${planned.length}`,
    );
  }
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

/** @throws RefusedError for a worker that the earlier run, whose input the new one has, may not use */
export function checkWorker(origin: RunOrigin, id: string, worker: string): void {
  const { allow, deny = [] } = origin.input.pool ?? {};
  const mayBe =
    worker === CONDUCTOR_ID
      ? contextOf(origin).workers.includes(worker)
      : (allow?.includes(worker) ?? true) && !deny.includes(worker);
  if (mayBe) return;
  const names = contextOf(origin).workers.join(', ');
  throw new RefusedError(
    `run ${id} may not use worker ${worker}, nor may one that goes on from it: name one of ${names}`,
  );
}

/** What a plan for a run is read by. The Conductor is the last of its workers wherever it may be one at all. */
export function contextOf({ input, run }: RunOrigin): PlanContext {
  const callsItself = run.recursion === 'worker' || run.recursion === 'both';
  // More than any plan has: the limit may have changed since, and the run itself has the last word.
  const limits = { steps: 100 };
  return planContextOf({ workers: run.workers, limits }, input.parent?.round ?? 0, callsItself);
}
