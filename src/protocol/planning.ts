import { isRecord } from '../plan/validate';
import { CONDUCTOR_ID, type Plan, type PlanContext, type Step } from '../plan/plan';
import type { PlanningRun, WritePlanRequest } from './activity-contract';
import type { CallPurpose } from './solve';
import { FAILURES } from './failures';
import type { SolveInput } from './input';
import type { ResolvedRun, RunLimits, RunWorker } from './cards';
import { isText, MAX_INLINE_QUESTION_BYTES, type Text } from './text';

// Rules that follow from input and configuration: the workflow and readers of its history must agree on them.

/** Whether the Conductor may be given steps of its own plan, or review its answer, at this depth. */
export function isRecursionAllowed(
  how: 'worker' | 'review',
  { recursion, limits }: Pick<ResolvedRun, 'recursion'> & { readonly limits: Pick<RunLimits, 'depth'> },
  depth: number,
): boolean {
  const isDepthLeft = limits.depth === null || depth < limits.depth;
  return (recursion === how || recursion === 'both') && isDepthLeft;
}

/** Returns the rules for plans of a run. If the Conductor may be given steps, it is the last ordinal. */
export function planContextOf(
  { workers, limits }: Pick<PlanningRun, 'workers' | 'limits'>,
  round: number,
  mayCallItself: boolean,
): PlanContext {
  const ids = workers.map(({ id }) => id);
  return { workers: mayCallItself ? [...ids, CONDUCTOR_ID] : ids, maxSteps: limits.steps, round };
}

/** Returns the plan to run if the Conductor wrote none: the first worker answers alone. */
export function standInPlan({
  workers: [best],
}: {
  readonly workers: readonly Pick<RunWorker, 'id'>[];
}): Plan {
  return { steps: best ? [{ worker: best.id, subtask: 'Answer the question completely.', sees: [] }] : [] };
}

/**
 * Returns the outputs of an earlier run that remain valid for a plan, by step; null for a step that must run. A person
 * may have changed the given plan: a step keeps its output only if it is unchanged and sees only kept outputs. An
 * answer that must fit a schema is always written and checked again.
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

/** Returns the question of an unchecked input, maybe the last turn of a conversation; empty if there is none. */
export function questionOf(input: unknown): Text {
  const { question, messages }: Record<string, unknown> = isRecord(input) ? input : {};
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const asked = question ?? (isRecord(last) ? last.content : undefined);
  return isText(asked, MAX_INLINE_QUESTION_BYTES) ? asked : '';
}

/** Whether the configuration gives the plan, so that the Conductor is not asked: the first one, except in a review. */
export function takesConfigured(request: Pick<WritePlanRequest, 'run' | 'repairs' | 'review'>): boolean {
  const { run, repairs, review } = request;
  return run.conductor.plan !== undefined && review === undefined && repairs.length === 0;
}

/** Returns the purpose of a Conductor call. After a person's rejection it is a new plan, not a repair. */
export function purposeOf({ repairs, review }: Pick<WritePlanRequest, 'repairs' | 'review'>): CallPurpose {
  if (repairs.at(-1)?.problem.type === FAILURES.planInvalid) return 'repair';
  return review === undefined ? 'plan' : 'review';
}
