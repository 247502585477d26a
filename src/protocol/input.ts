import { EXAMPLE_SET_NAMES, type Plan } from '../plan/plan';
import { quoteBriefly } from '../plan/plan-error';
import { isRecord } from '../plan/validate';
import type { ConductorChange, LimitsInput, Parent, PoolFilter } from './activity-contract';
import { PARENT, PLAN, RUN, TEXT } from './given-run';
import { LIMIT_RULES } from './messages';
import type { ResolvedRun } from './run';
import {
  anyText,
  findFault,
  isString,
  listOf,
  oneOf,
  only,
  optional,
  orNull,
  type Rule,
  type Rules,
  text,
  whole,
} from './rules';
import { isText, type Text } from './text';

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
 * Finds the fault of an input of `conductorSolve`, in a sentence; null: none. Any client may start the workflow with
 * anything, and such a run must fail with a sentence instead of hanging.
 */
export function findInputProblem(input: unknown): string | null {
  if (input === undefined) {
    return (
      'the input of conductorSolve must be one object, { question, … }, and is missing ' +
      '(encryption.strict leaves out one that is not encrypted for this run)'
    );
  }
  const stray = isRecord(input) && Object.keys(input).find((key) => !Object.hasOwn(SOLVE_RULES, key));
  if (typeof stray === 'string') {
    return `the input of conductorSolve has no ${quoteBriefly(stray)}: it knows ${Object.keys(SOLVE_RULES).join(', ')}`;
  }
  return findFault('conductorSolve', input, SOLVE_RULES);
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

const duration: Rule = {
  isMet: (value) => isString(value) && value.length <= 100,
  expected: 'a duration such as "10m"',
};

export const LIMITS_INPUT = only<LimitsInput>({
  steps: LIMIT_RULES.steps,
  depth: LIMIT_RULES.depth,
  calls: LIMIT_RULES.calls,
  tokens: LIMIT_RULES.tokens,
  costUsd: LIMIT_RULES.costUsd,
  wallClock: duration,
  approval: duration,
});

const ids = listOf(anyText);

const SOLVE_RULES: Rules<SolveInput> = {
  question: {
    isMet: (value) => isText(value, MAX_INLINE_QUESTION_BYTES) && !(isString(value) && value.trim() === ''),
    expected:
      `a text with at least a word and at most ${MAX_INLINE_QUESTION_BYTES} bytes, not empty ` +
      '(or a reference to one in the store)',
  },
  pool: optional(only<PoolFilter>({ allow: ids, deny: ids })),
  limits: optional(LIMITS_INPUT),
  conductor: optional(only<ConductorChange>({ checkpoint: anyText, examples: oneOf(...EXAMPLE_SET_NAMES) })),
  approval: optional(oneOf('plan', 'all')),
  priority: optional({ ...whole(1, 5), expected: 'a whole number from 1 (first) to 5 (last)' }),
  tenant: optional(text(64)),
  given: optional({
    isMet: isGiven,
    expected: `{ plan, outputs }: ${PLAN.expected}, and for each step null or ${TEXT.expected}`,
  }),
  run: optional(RUN),
  parent: optional(PARENT),
  seed: optional(whole(-Infinity)),
};

function isGiven(value: unknown): boolean {
  if (!only({ plan: PLAN, outputs: listOf(orNull(TEXT)) }).isMet(value)) return false;
  const { plan, outputs } = value as Partial<NonNullable<SolveInput['given']>>;
  return plan !== undefined && outputs?.length === plan.steps.length;
}
