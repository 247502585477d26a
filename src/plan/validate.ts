import { jsonBytes, MAX_SUBTASK_BYTES, type Plan, type PlanContext, type Step } from './plan';
import { type ListName, type ErrorPlace, PlanError, quoteBriefly } from './plan-error';

/** Returns the place of a step's entry in the text it was read from, if any. */
export type Locate = (list: ListName, step: number) => ErrorPlace | undefined;

interface Written {
  readonly locate?: Locate;
  /** Number of the first step in `sees` and messages: people count from 1, programs from 0. */
  readonly firstStep?: 0 | 1;
}

/**
 * Checks a plan and returns it in normal form. A plan is untrusted input from a model or a person: it can choose
 * workers of this pool and nothing else.
 * @throws PlanError
 */
export function validatePlan(
  value: unknown,
  context: PlanContext,
  { locate = () => undefined, firstStep = 0 }: Written = {},
): Plan {
  const problem = findShapeProblem(value, firstStep);
  if (problem !== null) {
    const form = 'A plan is { steps: [{ worker, subtask, sees }] }.';
    throw new PlanError('bad_shape', null, `This is not a plan: ${problem}. ${form}`);
  }
  const { steps } = value as Plan;
  checkCount(steps.length, context, locate);
  for (const [index, step] of steps.entries()) checkStep(step, index, context, { locate, firstStep });
  return inNormalForm({
    steps: steps.map((step) => ({ ...step, sees: step.sees.map((seen) => seen - firstStep) })),
  });
}

/** Sorts and deduplicates what each step of a valid plan sees. */
export function inNormalForm({ steps }: Plan): Plan {
  const ascending = (sees: Step['sees']): number[] => [...new Set(sees)].sort((one, other) => one - other);
  return { steps: steps.map((step) => ({ ...step, sees: ascending(step.sees) })) };
}

/** Says why a value does not have the shape of a plan, or null. Without zod, which the sandbox must not load. */
export function findShapeProblem(value: unknown, firstStep: 0 | 1 = 0): string | null {
  if (!isRecord(value)) return 'the value is not an object';
  const stray = Object.keys(value).find((key) => key !== 'steps');
  if (stray !== undefined) return `the value has a field ${quoteBriefly(stray)}`;
  if (!Array.isArray(value.steps)) return 'steps is not a list';
  for (const [index, step] of value.steps.entries()) {
    const wrong = findWrongField(step, firstStep);
    if (wrong !== null) return `step ${index + firstStep} ${wrong}`;
  }
  return null;
}

function findWrongField(step: unknown, firstStep: 0 | 1): string | null {
  if (!isRecord(step)) return 'is not an object';
  const { worker, subtask, sees, ...strays } = step;
  if (typeof worker !== 'string' || worker === '') return 'needs the id of a worker in "worker"';
  if (typeof subtask !== 'string') return 'needs a text in "subtask"';
  const isNumber = (seen: unknown): boolean => Number.isSafeInteger(seen) && Number(seen) >= firstStep;
  if (!Array.isArray(sees) || !sees.every(isNumber))
    return `needs a list of step numbers in "sees", counted from ${firstStep}`;
  const [stray] = Object.keys(strays);
  return stray === undefined ? null : `has a field ${quoteBriefly(stray)}`;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws PlanError if a plan has too many steps, or none in the first round */
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

function checkStep(
  step: Step,
  index: number,
  { workers }: PlanContext,
  { locate, firstStep }: Required<Written>,
): void {
  if (!workers.includes(step.worker)) {
    const problem = `There is no worker ${quoteBriefly(step.worker)} in the pool. Choose one of ${workers.join(', ')}.`;
    throw new PlanError('unknown_worker', 'model_id', problem, locate('model_id', index));
  }
  const bytes = jsonBytes(step.subtask);
  if (bytes > MAX_SUBTASK_BYTES) {
    const problem = `The subtask of step ${index + firstStep} has ${bytes} bytes as JSON, but at most ${MAX_SUBTASK_BYTES} are allowed. Shorten it.`;
    throw new PlanError('subtask_too_long', 'subtasks', problem, locate('subtasks', index));
  }
  const own = index + firstStep;
  const ahead = step.sees.find((seen) => seen >= own);
  if (ahead !== undefined) {
    const problem = `Step ${own} cannot see step ${ahead}: steps count from ${firstStep}, and a step sees earlier ones only.`;
    throw new PlanError('forward_reference', 'access_list', problem, locate('access_list', index));
  }
}
