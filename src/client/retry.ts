import type { Client } from '@temporalio/client';
import { CONDUCTOR_ID, type PlanContext } from '../plan/plan';
import type { LimitsInput } from '../protocol/activities';
import type { ResolvedRun } from '../protocol/run';
import type { SolveTrace } from '../protocol/solve';
import { RefusedError } from './steer';
import { type HistoryDecoder, readHistory, type HistoryEvent, readHistoryEvent } from './history';
import type { SolveInput } from '../protocol/input';

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

export interface RunOrigin {
  readonly input: SolveInput;
  readonly run: Pick<ResolvedRun, 'workers'> & Partial<ResolvedRun>;
}

/** What a run was started with, and what was resolved from it. @throws RefusedError while nothing is */
export async function readOrigin(client: Client, id: string, decoder: HistoryDecoder): Promise<RunOrigin> {
  const origin: { input?: SolveInput; run?: ResolvedRun } = {};
  for await (const events of readHistory(client, { workflowId: id }, false)) {
    for (const event of events) {
      note(await readHistoryEvent(event, decoder), origin);
      const { input, run } = origin;
      if (input && run) return { input, run };
    }
  }
  throw new RefusedError(`run ${id} has no plan yet: try again when it has`);
}

function note(event: HistoryEvent | null, origin: { input?: SolveInput; run?: ResolvedRun }): void {
  if (event?.kind === 'run-started') {
    origin.input = event.input as SolveInput;
    origin.run = origin.input.parent?.run;
  }
  if (event?.kind === 'run-resolved') origin.run = event.run;
}

/** What a plan for a run is read by. The Conductor is the last of its workers wherever it may be one at all. */
export function contextOf({ input, run }: RunOrigin): PlanContext {
  const ids = run.workers.map(({ id }) => id);
  const callsItself = run.recursion === 'worker' || run.recursion === 'both';
  return {
    workers: callsItself ? [...ids, CONDUCTOR_ID] : ids,
    // More than any plan has: the limit may have changed since, and the run itself has the last word.
    maxSteps: 100,
    round: input.parent?.round ?? 0,
  };
}
