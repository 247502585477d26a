import { EXAMPLE_SET_NAMES, type Plan } from '../plan/plan';
import { quoteBriefly } from '../plan/plan-error';
import { findShapeProblem, isRecord } from '../plan/validate';
import type { ConductorChange, LimitsInput, Parent, PoolFilter } from './activities';
import { isParent, isRun } from './given-run';
import { isListOf, isString, isWhole, LIMIT_RULES, MAX_CALLS, MAX_STEPS, type Rule } from './messages';
import type { ResolvedRun } from './run';
import { INLINE_BYTES, isText, type Text } from './text';

/** A longer question lies in the store: with the answer it must fit a result. */
const MAX_INLINE_QUESTION_BYTES = 128 * 1024;

/** The one argument of workflow `conductorSolve`. */
export interface SolveInput {
  readonly question: Text;
  /** Which of the configured workers this run may use; default all. */
  readonly pool?: PoolFilter;
  /** Replace the configured ones for this run. */
  readonly limits?: LimitsInput;
  /** Replaces parts of the configured Conductor for this run. */
  readonly conductor?: ConductorChange;
  /** Whether a person sees a plan before any of it is run: the first one, or those of children too. */
  readonly approval?: 'plan' | 'all';
  /** 1 is served first, 5 last; Temporal's default is 3. */
  readonly priority?: number;
  /** Whose run it is, where task queues must be fair between several: Temporal's fairness key. */
  readonly tenant?: string;
  /**
   * A plan to run as it is instead of one by the Conductor, with a place for each step: the output that is kept, or
   * Null if the step is to be run.
   */
  readonly given?: { readonly plan: Plan; readonly outputs: readonly (Text | null)[] };
  /** Settings as they were resolved before, which hold whatever is configured now. */
  readonly run?: ResolvedRun;
  /** Only in a solve that another one started. */
  readonly parent?: Parent;
  /** Sent to models that take one. */
  readonly seed?: number;
}

/**
 * The outputs of an earlier run that hold for a plan, by step: null for a step to be run. A person may have edited the
 * plan that was given, or had another one written: a step keeps its output only as it was, seeing what was kept.
 */
export function keptOutputs({ given }: Pick<SolveInput, 'given'>, { steps }: Plan): (Text | null)[] {
  const kept: (Text | null)[] = [];
  for (const [index, { worker, subtask, sees }] of steps.entries()) {
    const before = given?.plan.steps[index];
    const isAsBefore =
      before?.worker === worker &&
      before.subtask === subtask &&
      before.sees.length === sees.length &&
      sees.every((seen) => before.sees.includes(seen) && (kept[seen] ?? null) !== null);
    kept.push(isAsBefore ? (given?.outputs[index] ?? null) : null);
  }
  return kept;
}

/**
 * Finds the fault of an input of `conductorSolve`, in a sentence; null: none. Any client may start the
 * workflow with anything, and such a run must fail with a sentence instead of hanging.
 *
 * The rules are plain code: with `zod/mini` the bundle was 1.6 MB instead of 0.7, and each run's context took 8 ms of
 * processor time to load instead of 0.9. The SDK's `preloadModules` makes up for that only if schemas are preloaded too
 * and webpack ignores zod's `sideEffects: false`, which users who bundle workflows themselves would have to know.
 */
export function findInputProblem(input: unknown): string | null {
  if (!isRecord(input))
    return `the input of conductorSolve must be one object, { question, … }, and is ${kindOf(input)}`;
  const unknown = Object.keys(input).find((key) => !Object.hasOwn(SOLVE_RULES, key));
  if (unknown !== undefined) {
    return `the input of conductorSolve has no ${quoteBriefly(unknown)}: it knows ${Object.keys(SOLVE_RULES).join(', ')}`;
  }
  for (const [key, { isMet, expected }] of Object.entries(SOLVE_RULES)) {
    const isRequired = key === 'question';
    if ((!isRequired && input[key] === undefined) || isMet(input[key])) continue;
    // How some languages write what is not given; of a limit it would mean that there is none.
    const problem = isRequired || input[key] !== null ? 'must be' : 'is null: leave it out, or make it';
    return `${key} in the input of conductorSolve ${problem} ${expected}`;
  }
  return null;
}

/** Whether a run can be made of an unchecked input. */
export function isSolveInput(input: unknown): input is SolveInput {
  return findInputProblem(input) === null;
}

/** Whether a person sees the plan of a solve at this depth before any of it is run. */
export function asksApproval({ approval }: Pick<SolveInput, 'approval'>, depth: number): boolean {
  return approval === 'all' || (approval === 'plan' && depth === 0);
}

/** The question of an unchecked input; empty where it has none. */
export function questionOf(input: unknown): Text {
  const question = isRecord(input) ? input.question : undefined;
  return isText(question, MAX_INLINE_QUESTION_BYTES) ? question : '';
}

export const SOLVE_RULES: Readonly<Record<keyof SolveInput, Rule>> = {
  question: {
    isMet: (value) => isText(value, MAX_INLINE_QUESTION_BYTES) && !(isString(value) && value.trim() === ''),
    expected:
      `a text with at least a word and at most ${MAX_INLINE_QUESTION_BYTES} bytes, not empty ` +
      '(or a reference to one in the store)',
  },
  pool: {
    isMet: (value) => hasOnly(value, { allow: isListOf(isString), deny: isListOf(isString) }),
    expected: '{ allow?, deny? }, lists of worker ids',
  },
  limits: {
    isMet: (value) =>
      hasOnly(value, {
        steps: LIMIT_RULES.steps.isMet,
        depth: LIMIT_RULES.depth.isMet,
        calls: LIMIT_RULES.calls.isMet,
        tokens: LIMIT_RULES.tokens.isMet,
        costUsd: LIMIT_RULES.costUsd.isMet,
        wallClock: isDuration,
        approval: isDuration,
      }),
    expected:
      '{ steps?, depth?, calls?, tokens?, costUsd?, wallClock?, approval? }: whole numbers ' +
      `(steps at most ${MAX_STEPS}, calls at most ${MAX_CALLS}), an amount of USD, and durations such as "10m"; ` +
      'depth, tokens and costUsd may be null for no limit',
  },
  conductor: {
    isMet: (value) => hasOnly(value, { checkpoint: isString, examples: isExampleSet }),
    expected: `{ checkpoint?, examples? }: <training run>/<name>, and one of ${EXAMPLE_SET_NAMES.join(', ')}`,
  },
  approval: { isMet: (value) => value === 'plan' || value === 'all', expected: '"plan" or "all"' },
  priority: { isMet: (value) => isWhole(value, 1, 5), expected: 'a whole number from 1 (first) to 5 (last)' },
  tenant: {
    isMet: (value) => isString(value) && value.length >= 1 && value.length <= 64,
    expected: 'a text of 1 to 64 characters',
  },
  given: {
    isMet: isGiven,
    expected:
      `{ plan: { steps: [{ worker, subtask, sees }] }, outputs }, with null or an output of at most ${INLINE_BYTES} ` +
      'bytes (or a reference to one in the store) for each step',
  },
  run: { isMet: isRun, expected: 'a run as the activity conductor.resolveRun returns it' },
  parent: { isMet: isParent, expected: 'what a solve gives to a solve that it starts' },
  seed: { isMet: (value) => isWhole(value, -Infinity), expected: 'a whole number' },
};

function isGiven(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { plan, outputs, ...strays } = value;
  if (findShapeProblem(plan) !== null || !Array.isArray(outputs) || Object.keys(strays).length > 0)
    return false;
  return (
    outputs.length === (plan as Plan).steps.length &&
    outputs.every((output) => output === null || isText(output))
  );
}

function isExampleSet(value: unknown): boolean {
  return EXAMPLE_SET_NAMES.some((name) => name === value);
}

function isDuration(value: unknown): boolean {
  return isString(value) && value.length <= 100;
}

/** Whether a value is an object that holds nothing but these fields, each of them optional. */
function hasOnly(value: unknown, fields: Readonly<Record<string, Rule['isMet']>>): boolean {
  return (
    isRecord(value) &&
    Object.entries(value).every(([key, field]) => Object.hasOwn(fields, key) && fields[key]?.(field))
  );
}

function kindOf(value: unknown): string {
  if (value === undefined)
    return 'missing (encryption.strict leaves out one that is not encrypted for this run)';
  if (value === null) return 'missing';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
