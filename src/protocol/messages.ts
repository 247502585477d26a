/**
 * The most model requests of one run, children included. Its result lists them all and must fit one payload (2 MB);
 * at about 6 KB a call with its step, 200 leave room.
 */
export const MAX_CALLS = 200;

/** The highest cost limit: in nano-USD it must stay an exact integer, and no one means more. */
export const MAX_COST_USD = 1_000_000;

/** The longest hint, or reason for a rejection: a page. It travels in signals and prompts, and is shown whole. */
export const MAX_HINT_CHARACTERS = 4000;

/** What a run, or a child of it, may spend at most; null: no such limit. */
export interface SpendingLimits {
  readonly calls: number;
  readonly tokens: number | null;
  readonly nanoUsd: number | null;
}

/** Update `setLimits`: what is named changes, the rest stays; null lifts a limit. */
export interface LimitsChange {
  readonly steps?: number;
  readonly depth?: number | null;
  readonly calls?: number;
  readonly tokens?: number | null;
  readonly costUsd?: number | null;
  /** Milliseconds, counted from the start of the run. */
  readonly wallClockMs?: number;
}

/**
 * The answer to `setLimits`: what now holds. A limit is never lower than what is spent or promised to calls under way,
 * so that it is kept whatever happens; nothing more starts then.
 */
export interface HeldLimits {
  readonly steps: number;
  readonly depth: number | null;
  readonly calls: number;
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly wallClockMs: number;
}

/** Update `rejectPlan`. */
export interface PlanRejection {
  /** What the Conductor is told before it writes another plan. */
  readonly reason: string;
}

/** What is wrong with a change of limits, in a sentence; null where nothing is. By hand: see `input.ts`. */
export function findLimitsProblem(change: unknown): string | null {
  if (typeof change !== 'object' || change === null || Array.isArray(change)) {
    return `setLimits wants one object, { ${Object.keys(RULES).join('?, ')}? }`;
  }
  // None at all is a question: what holds?
  for (const [name, value] of Object.entries(change)) {
    const rule = isName(name) ? RULES[name] : null;
    if (rule === null)
      return `there is no limit ${JSON.stringify(name)}: name ${Object.keys(RULES).join(', ')}`;
    if (!rule.isMet(value)) return `${name} is ${JSON.stringify(value)}: it must be ${rule.expected}`;
  }
  return null;
}

/** What is wrong with the rejection of a plan. */
export function findRejectionProblem(rejection: unknown): string | null {
  const isObject = typeof rejection === 'object' && rejection !== null;
  const reason = isObject && 'reason' in rejection ? rejection.reason : undefined;
  if (isHint(reason)) return null;
  return `rejectPlan wants { reason }, a text of 1 to ${MAX_HINT_CHARACTERS} characters that the Conductor is told`;
}

/** Whether a value says how deep the Conductor may call itself; null: no limit. */
export function isDepth(value: unknown): value is number | null {
  return value === null || isWhole(value, 0);
}

/** Whether a value is something that the Conductor can be told by a person. */
export function isHint(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && value.length <= MAX_HINT_CHARACTERS;
}

/** Whether a value says what a child may spend. Whole numbers from 0; null: no limit. */
export function isSpending(value: unknown): value is SpendingLimits {
  if (typeof value !== 'object' || value === null) return false;
  const { calls, tokens, nanoUsd, ...strays }: Record<string, unknown> = { ...value };
  const isBound = (bound: unknown): boolean => bound === null || isWhole(bound, 0);
  return isWhole(calls, 0) && isBound(tokens) && isBound(nanoUsd) && Object.keys(strays).length === 0;
}

interface Rule {
  readonly isMet: (value: unknown) => boolean;
  readonly expected: string;
}

const RULES: Readonly<Record<keyof LimitsChange, Rule>> = {
  steps: { isMet: (value) => isWhole(value, 1), expected: 'a whole number from 1' },
  depth: { isMet: isDepth, expected: 'a whole number from 0, or null for no limit' },
  calls: {
    isMet: (value) => isWhole(value, 1, MAX_CALLS),
    expected: `a whole number from 1 to ${MAX_CALLS}`,
  },
  tokens: {
    isMet: (value) => value === null || isWhole(value, 1),
    expected: 'a whole number from 1, or null for no limit',
  },
  costUsd: { isMet: isCost, expected: `an amount of USD up to ${MAX_COST_USD}, or null for no limit` },
  wallClockMs: { isMet: (value) => isWhole(value, 1), expected: 'a whole number of milliseconds from 1' },
};

function isName(name: string): name is keyof LimitsChange {
  return Object.hasOwn(RULES, name);
}

/** Whether a value is a limit on cost in USD; null: none. */
export function isCost(value: unknown): boolean {
  if (value === null) return true;
  return typeof value === 'number' && value >= 0 && value <= MAX_COST_USD;
}

/** Whether a value is a whole number between these bounds. */
export function isWhole(value: unknown, least: number, most = Infinity): boolean {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
}
