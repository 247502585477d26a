import { isRecord } from '../plan/validate';
import { CONDUCTOR_ID, type Plan, type PlanContext, type Step } from '../plan/plan';
import type { PlanningRun, WritePlanRequest } from './activity-contract';
import type { CallPurpose } from './solve';
import { FAILURES } from './failures';
import type { SolveInput } from './input';
import type { ResolvedRun, RunLimits, RunWorker } from './cards';
import { isText, MAX_INLINE_QUESTION_BYTES, type Text } from './text';

// What an input and a configuration say about the plans of a run: the workflow and readers of its history must agree.

/** Whether the Conductor may be given steps of its own plan, or review its answer, at this depth. */
export function isRecursionAllowed(
  how: 'worker' | 'review',
  { recursion, limits }: Pick<ResolvedRun, 'recursion'> & { readonly limits: Pick<RunLimits, 'depth'> },
  depth: number,
): boolean {
  const isDepthLeft = limits.depth === null || depth < limits.depth;
  return (recursion === how || recursion === 'both') && isDepthLeft;
}

/** Context that judges a plan of a run; the Conductor, if it may be given steps, is the last ordinal. */
export function planContextOf(
  { workers, limits }: Pick<PlanningRun, 'workers' | 'limits'>,
  round: number,
  mayCallItself: boolean,
): PlanContext {
  const ids = workers.map(({ id }) => id);
  return { workers: mayCallItself ? [...ids, CONDUCTOR_ID] : ids, maxSteps: limits.steps, round };
}

/** The plan that runs when the Conductor wrote none: the first worker answers alone. */
export function standInPlan({
  workers: [best],
}: {
  readonly workers: readonly Pick<RunWorker, 'id'>[];
}): Plan {
  return { steps: best ? [{ worker: best.id, subtask: 'Answer the question completely.', sees: [] }] : [] };
}

/**
 * The outputs of an earlier run that hold for a plan, by step; null for a step to be run. A person may have changed the
 * plan that was given: a step keeps its output only as it was, seeing what was kept. An answer that must fit a schema is
 * written, and checked, anew.
 */
export function keptOutputs(
  { given, answerSchema }: Pick<SolveInput, 'given' | 'answerSchema'>,
  { steps }: Plan,
): (Text | null)[] {
  const kept: (Text | null)[] = [];
  for (const [index, step] of steps.entries()) {
    const isAnswer = index === steps.length - 1 && answerSchema !== undefined;
    const holds = !isAnswer && isAsBefore(step, given?.plan.steps[index], kept);
    kept.push(holds ? (given?.outputs[index] ?? null) : null);
  }
  return kept;
}

function isAsBefore(
  { worker, subtask, sees }: Step,
  before: Step | undefined,
  kept: readonly (Text | null)[],
): boolean {
  return (
    before?.worker === worker &&
    before.subtask === subtask &&
    before.sees.length === sees.length &&
    sees.every((seen) => before.sees.includes(seen) && (kept[seen] ?? null) !== null)
  );
}

export function asksApproval({ approval }: Pick<SolveInput, 'approval'>, depth: number): boolean {
  return approval === 'all' || (approval === 'plan' && depth === 0);
}

/** The question of an unchecked input, which may be the last turn of a conversation; empty where it has none. */
export function questionOf(input: unknown): Text {
  const { question, messages }: Record<string, unknown> = isRecord(input) ? input : {};
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const asked = question ?? (isRecord(last) ? last.content : undefined);
  return isText(asked, MAX_INLINE_QUESTION_BYTES) ? asked : '';
}

/** Whether a plan is that of the configuration, which the Conductor is not asked for: the first one, in no review. */
export function takesConfigured(request: Pick<WritePlanRequest, 'run' | 'repairs' | 'review'>): boolean {
  const { run, repairs, review } = request;
  return run.conductor.plan !== undefined && review === undefined && repairs.length === 0;
}

/** Purpose of a call of the Conductor. A plan that a person rejected is written anew, not repaired. */
export function purposeOf({ repairs, review }: Pick<WritePlanRequest, 'repairs' | 'review'>): CallPurpose {
  if (repairs.at(-1)?.problem.type === FAILURES.planInvalid) return 'repair';
  return review === undefined ? 'plan' : 'review';
}
