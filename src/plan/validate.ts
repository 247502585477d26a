import { MAX_SUBTASK_BYTES, planSchema, type Plan, type PlanContext, type Step } from './plan';
import { PlanError, quoteBriefly, type ListName } from './plan-error';
import type { Place } from './underline';

/** Where an entry of a step stands in the text it was read from, if it was read from one. */
export type Locate = (list: ListName, step: number) => Place | undefined;

/**
 * Holds a plan to the rules and returns it in normal form: what a step sees ascending and without repeats.
 *
 * A plan is untrusted input, whether a model wrote it or a person edited it: it can choose a worker of this pool and
 * nothing else.
 *
 * @throws PlanError
 */
export function validatePlan(value: unknown, context: PlanContext, locate: Locate = () => undefined): Plan {
  const { steps } = shapeOf(value);
  checkCount(steps.length, context, locate);
  return { steps: steps.map((step, index) => checkStep(step, index, context, locate)) };
}

function shapeOf(value: unknown): Plan {
  const parsed = planSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new PlanError(
    'bad_shape',
    null,
    `This is no plan: ${path === '' ? 'the value' : path} is wrong (${issue?.message ?? 'unknown shape'}). ` +
      'A plan is { steps: [{ worker, subtask, sees }] }.',
  );
}

/**
 * Holds the number of steps to the rules.
 *
 * @throws PlanError
 */
export function checkCount(count: number, { maxSteps, round }: PlanContext, locate: Locate): void {
  if (count === 0 && round === 0) {
    const problem =
      'The plan has no steps, which accepts an earlier answer, but there is none yet. Write at least one step.';
    throw new PlanError('nothing_to_accept', null, problem);
  }
  if (count > maxSteps) {
    const problem = `The plan has ${count} steps, but at most ${maxSteps} are allowed. Leave out or merge some.`;
    throw new PlanError('too_many_steps', null, problem, locate('model_id', maxSteps));
  }
}

function checkStep(step: Step, index: number, { workers }: PlanContext, locate: Locate): Step {
  if (!workers.includes(step.worker)) {
    const problem = `${quoteBriefly(step.worker)} is no worker of this pool. Write a number from 0 to ${workers.length - 1}.`;
    throw new PlanError('unknown_worker', 'model_id', problem, locate('model_id', index));
  }
  const bytes = new TextEncoder().encode(step.subtask).length;
  if (bytes > MAX_SUBTASK_BYTES) {
    const problem = `The subtask of step ${index} has ${bytes} bytes, but at most ${MAX_SUBTASK_BYTES} are allowed. Shorten it.`;
    throw new PlanError('subtask_too_long', 'subtasks', problem, locate('subtasks', index));
  }
  const ahead = step.sees.find((seen) => seen >= index);
  if (ahead !== undefined) {
    const problem = `Step ${index} cannot see step ${ahead}: steps count from 0, and a step sees earlier ones only.`;
    throw new PlanError('forward_reference', 'access_list', problem, locate('access_list', index));
  }
  return { ...step, sees: [...new Set(step.sees)].sort((one, other) => one - other) };
}
