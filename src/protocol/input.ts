import { type Plan, utf8Bytes } from '../plan/plan';
import { quoteBriefly } from '../plan/plan-error';
import { findShapeProblem, isRecord } from '../plan/validate';
import type { LimitsInput, Parent, PoolFilter } from './activities';
import {
  isBound,
  isDurationMs,
  isHint,
  isWhole,
  LIMIT_RULES,
  MAX_CALLS,
  MAX_HINTS,
  MAX_STEPS,
  type Rule,
} from './messages';
import type { RunLimits } from './run';
import { INLINE_BYTES, MAX_TEXT_BYTES, type Text } from './text';

/** A longer question lies in the store: with the answer it must fit a result. */
const MAX_INLINE_QUESTION_BYTES = 128 * 1024;

/** The one argument of workflow `conductorSolve`. */
export interface SolveInput {
  readonly question: Text;
  /** Which of the configured workers this run may use; default all. */
  readonly pool?: PoolFilter;
  /** Replace the configured ones for this run. */
  readonly limits?: LimitsInput;
  /** Whether a person sees a plan before any of it is run: the first one, or those of children too. */
  readonly approval?: 'plan' | 'all';
  /** 1 is served first, 5 last; Temporal's default is 3. */
  readonly priority?: number;
  /** Whose run it is, where task queues must be fair between several: Temporal's fairness key. */
  readonly tenant?: string;
  /**
   * A plan to run as it is instead of one by the Conductor, with a place for each step: the output that is kept, or
   * null where the step is to be run.
   */
  readonly given?: { readonly plan: Plan; readonly outputs: readonly (Text | null)[] };
  /** Only in a solve that another one started. */
  readonly parent?: Parent;
  /** Sent to models that take one. */
  readonly seed?: number;
}

/**
 * What is wrong with an input of `conductorSolve`, in a sentence; null where nothing is. Any client may start the
 * workflow with anything, and such a run must fail with a sentence instead of hanging.
 *
 * The rules are plain code: with `zod/mini` the bundle was 1.6 MB instead of 0.7, and each run's context took 8 ms of
 * processor time to load instead of 0.9. The SDK's `preloadModules` makes up for that only if schemas are preloaded too
 * and webpack ignores zod's `sideEffects: false`, which users who bundle workflows themselves would have to know.
 */
export function findInputProblem(input: unknown): string | null {
  if (!isRecord(input))
    return `the input of conductorSolve must be one object, { question, … }, and is ${kindOf(input)}`;
  const unknown = Object.keys(input).find((key) => !Object.hasOwn(RULES, key));
  if (unknown !== undefined) {
    return `the input of conductorSolve has no ${quoteBriefly(unknown)}: it knows ${Object.keys(RULES).join(', ')}`;
  }
  for (const [key, { isMet, expected }] of Object.entries(RULES)) {
    const isGiven = key === 'question' || input[key] !== undefined;
    if (isGiven && !isMet(input[key])) return `${key} in the input of conductorSolve must be ${expected}`;
  }
  return null;
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

const RULES: Readonly<Record<keyof SolveInput, Rule>> = {
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

/**
 * The resolved run inside is the parent's own word; a key goes nowhere because of it, see `config/keys.ts`. Numbers and
 * texts are checked all the same: the run calculates with them.
 */
function isParent(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { rootId, depth, round, run, background, hints } = value;
  const isPlaced = isString(rootId) && isWhole(depth, 1) && isWhole(round, 0);
  const areHints = Array.isArray(hints) && hints.length <= MAX_HINTS && hints.every(isHint);
  const isShown = (text: unknown): boolean => isRecord(text) && isText(text.output);
  return isPlaced && areHints && isListOf(isShown)(background) && isRun(run);
}

function isRun(run: unknown): boolean {
  if (!isRecord(run) || !isRecord(run.limits)) return false;
  const { conductor, workers, limits, heartbeatMs, estimator = 1 } = run;
  const isStaffed = isListOf(isCard)(workers) && isCard(conductor) && (workers as unknown[]).length > 0;
  const isLimited = Object.entries(RUN_LIMITS).every(([name, isMet]) => isMet(limits[name]));
  return isStaffed && isLimited && isDurationMs(heartbeatMs) && isWhole(estimator, 1);
}

const RUN_LIMITS: Readonly<Record<keyof RunLimits, Rule['isMet']>> = {
  steps: LIMIT_RULES.steps.isMet,
  depth: LIMIT_RULES.depth.isMet,
  calls: LIMIT_RULES.calls.isMet,
  tokens: isBound,
  nanoUsd: isBound,
  wallClockMs: isDurationMs,
  approvalMs: isDurationMs,
};

function isCard(card: unknown): boolean {
  if (!isRecord(card) || !isDurationMs(card.timeoutMs)) return false;
  return card.maxOutputTokens === undefined || isWhole(card.maxOutputTokens, 1);
}

/** Whether a value is a text that is short enough to travel, or a reference as the store gives it. */
function isText(value: unknown, inlineBytes = INLINE_BYTES): value is Text {
  if (isString(value)) return utf8Bytes(value) <= inlineBytes;
  if (!isRecord(value)) return false;
  const { ref, bytes, preview } = value;
  const isShort = (text: unknown): boolean => isString(text) && text.length <= MAX_REFERENCE_CHARACTERS;
  return isShort(ref) && isShort(preview) && isWhole(bytes, 0, MAX_TEXT_BYTES);
}

/** A reference, or a preview, has about half as many. */
const MAX_REFERENCE_CHARACTERS = 256;

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

function isListOf(isItem: Rule['isMet']): Rule['isMet'] {
  return (value) => Array.isArray(value) && value.every(isItem);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'missing';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
