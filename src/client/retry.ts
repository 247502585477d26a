import { changedLimits } from '../config/resolve-run';
import { ConductorError } from '../errors';
import type { PlanContext, Step } from '../plan/plan';
import type { LimitsInput, Rights, SolveInput } from '../protocol/input';
import type { Sender } from '../protocol/messages';
import { isRecursionAllowed, planContextOf } from '../protocol/planning';
import type { RunLimits } from '../protocol/cards';
import { CONDUCTOR_ID } from '../protocol/names';
import type { SolveTrace } from '../protocol/solve';
import { RefusedError } from './steer';
import type { ResolvedKnownRun } from './trace-reader';

/** Thrown for a step or a worker that the earlier run does not have; nothing was started. */
export class BadRetryError extends ConductorError {
  override readonly name = 'BadRetryError';
  readonly code = 'BadRetry';
}

/** A retry that an operator sends may have the limits that it names, even if the earlier run's key may not. */
export interface RetryRequest extends Pick<Sender, 'asOperator'> {
  /** Index of the step, from 0. The outputs of earlier steps are kept. */
  readonly from: number;
  readonly worker?: string;
  readonly subtask?: string;
  /** Limits that differ from those of the earlier run, whose spending does not count. */
  readonly limits?: LimitsInput;
  /** What the key that asks for the retry may use. @default what the earlier run's key may use */
  readonly rights?: Rights;
}

/** Returns the input of a run that continues an earlier one from a step. Steps before it that failed run again, too. */
export function retryInput(before: SolveInput, trace: SolveTrace, request: RetryRequest): SolveInput {
  const { parent, ...input } = before;
  if (parent !== undefined) {
    throw new RefusedError(`run ${trace.id} was started by another one: retry ${parent.rootId} instead`);
  }
  const first = trace.rounds.find(({ childId }) => childId === null);
  const planned = first?.plan?.steps ?? [];
  const { from, limits } = request;
  if (first === undefined || planned.length === 0) {
    throw new RefusedError(
      `run ${trace.id} has no plan to go on from, since it ended before it had one: ask its question again`,
    );
  }
  if (planned[from] === undefined) {
    const missing = `the first plan of run ${trace.id} has no step ${from + 1}`;
    throw new BadRetryError(`${missing}: name one from 1 to ${planned.length}`);
  }
  const steps = planned.map((step, index) => (index === from ? changedStep(step, request) : step));
  const outputs = first.steps.map(({ index, output, error }) =>
    index < from && error === null ? output : null,
  );
  return {
    ...input,
    // Whoever starts it again is not the caller that brought functions.
    callerTools: undefined,
    traceparent: undefined,
    ...(limits && { limits: { ...input.limits, ...limits } }),
    ...rightsAfter(input, request),
    given: { plan: { steps }, outputs },
  };
}

function changedStep(step: Step, { worker = step.worker, subtask = step.subtask }: RetryRequest): Step {
  if (subtask.trim() === '') {
    throw new BadRetryError('the subtask is blank: say what the step is to do, or leave it as it was');
  }
  return { ...step, worker, subtask };
}

function rightsAfter(
  { rights: before }: SolveInput,
  { rights = before, limits = {}, asOperator }: RetryRequest,
): Pick<SolveInput, 'rights'> {
  if (rights === undefined || asOperator !== true) return { rights };
  const { depth = 0 } = limits;
  // Depth is of no use without the Conductor.
  const models = depth === 0 ? rights.models : null;
  return { rights: { models, limits: changedLimits(rights.limits, limits) } };
}

type RetriedRun = Pick<ResolvedKnownRun, 'input' | 'run'>;

/** @throws BadRetryError if the earlier run, whose input the new one has, may not use the worker */
export function checkWorker(known: RetriedRun, id: string, worker: string): void {
  const { allow, deny = [] } = known.input.pool ?? {};
  // The new run takes its depth limit from the configuration at its start, so none applies here.
  const { workers } = contextOf(known, { ...known.run.limits, depth: null });
  const isInPool = (allow?.includes(worker) ?? true) && !deny.includes(worker);
  if (worker === CONDUCTOR_ID ? workers.includes(worker) : isInPool) return;
  const what = `run ${id} may not use worker ${worker}, nor may one that goes on from it`;
  throw new BadRetryError(`${what}: name one of ${workers.join(', ')}`);
}

export function contextOf(
  { input, run }: RetriedRun,
  limits: Pick<RunLimits, 'steps' | 'depth'>,
): PlanContext {
  const { workers, recursion } = run;
  const { round = 0, depth = 0 } = input.parent ?? {};
  const mayCallItself = isRecursionAllowed('worker', { recursion, limits }, depth);
  return planContextOf({ workers, limits }, round, mayCallItself);
}
