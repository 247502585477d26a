import { utf8Bytes } from '../plan/plan';
import { REJECT_PLAN_UPDATE, SET_LIMITS_UPDATE } from './names';
import { findFault, findFaultOfChange, isString, number, orNull, type Rule, whole } from './rules';

// Bounds so that no accepted message can stop a run: it must fit a payload (2 MB), a timer and Temporal's fields.

/** Model requests of one run, children included. Its result lists them all and must fit 2 MB, at about 6 KB a call. */
export const MAX_CALLS = 200;

/** Most steps: each adds its subtask and an output to the result. */
export const MAX_STEPS = 50;

/** 24 days: with a longer delay, a Node timer fires at once. */
export const MAX_WALL_CLOCK_MS = 24 * 24 * 60 * 60 * 1000;

/** Highest cost limit: it must stay an exact integer in nano-USD. */
export const MAX_COST_USD = 1_000_000;

/** Hints, and reasons for rejections, are part of every later call of the Conductor. */
const MAX_HINT_BYTES = 2048;
export const MAX_HINTS = 50;

/** Signals of one kind that a run hears, and changes of limits that it accepts: no run needs as many. */
export const MAX_MESSAGES = 200;

/** Update `setLimits`: named limits change, the others stay; null lifts a limit. */
export interface LimitsChange {
  readonly steps?: number;
  readonly depth?: number | null;
  readonly calls?: number;
  readonly tokens?: number | null;
  readonly costUsd?: number | null;
  /** Milliseconds, counted from the start of the run. */
  readonly wallClockMs?: number;
}

/** Sender of a message. Only an operator may give a run more than the key that started it may use. */
export interface Sender {
  readonly asOperator?: boolean;
  /** Name of the key that sent it, for the trace. */
  readonly name?: string;
}

/** Limits that hold now, never below what is spent or reserved for running calls. */
export interface HeldLimits extends Required<LimitsChange> {
  /** Milliseconds left of the wall clock, without the time that plans waited for a person. */
  readonly remainingMs: number;
  /** When the run ends if nobody decides on the waiting plan (ISO 8601); null if none waits. */
  readonly approvalEndsAt: string | null;
}

/** Reason shown to the Conductor before it writes another plan. */
export interface PlanRejection {
  readonly reason: string;
}

export const NO_LIMIT = 'null for no limit';

/** Range of a cost limit, in the words of every message about one. */
export const A_COST = `an amount of USD from 0 to ${MAX_COST_USD}`;

/** Bound on tokens or nano-USD. */
export const bound = orNull(whole(0), NO_LIMIT);

export const LIMIT_RULES = {
  steps: whole(1, MAX_STEPS),
  depth: orNull(whole(0), NO_LIMIT),
  calls: whole(1, MAX_CALLS),
  tokens: orNull(whole(1), NO_LIMIT),
  costUsd: orNull({ ...number(0, MAX_COST_USD), expected: A_COST }, NO_LIMIT),
  wallClockMs: {
    ...whole(1, MAX_WALL_CLOCK_MS),
    expected: `a whole number of milliseconds from 1 to ${MAX_WALL_CLOCK_MS} (24 days)`,
  },
} as const satisfies Readonly<Record<keyof LimitsChange, Rule>>;

export const LIMIT_NAMES = Object.keys(LIMIT_RULES) as (keyof LimitsChange)[];

/** Returns what is wrong with a change, or null. An empty change is valid: it asks for the present limits. */
export function findLimitsProblem(change: unknown): string | null {
  return findFaultOfChange(SET_LIMITS_UPDATE, change, LIMIT_RULES);
}

export function findHintProblem(hint: string): string | null {
  return HINT.isMet(hint) ? null : `the hint has ${utf8Bytes(hint)} bytes: it must be ${HINT.expected}`;
}

export function findRejectionProblem(rejection: unknown): string | null {
  return findFault(REJECT_PLAN_UPDATE, rejection, { reason: HINT });
}

export function isDepth(value: unknown): value is number | null {
  return LIMIT_RULES.depth.isMet(value);
}

export const HINT: Rule = {
  isMet: (value) => isString(value) && value.trim() !== '' && utf8Bytes(value) <= MAX_HINT_BYTES,
  expected: `a text with at least a word and at most ${MAX_HINT_BYTES} bytes`,
};
