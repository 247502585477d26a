import type { SolveInput } from './solve';
import type { Text } from './text';

/**
 * What is wrong with an input of workflow `solve`, in a sentence; null where nothing is. Whoever starts a workflow by
 * hand may write anything, and a run must then fail with a sentence instead of hanging.
 *
 * It accepts exactly what `solveInputSchema` does, but is written by hand: the sandbox evaluates every module anew for
 * each run, and zod was more than half of the bundle.
 */
export function findInputProblem(input: unknown): string | null {
  if (!isRecord(input))
    return `the input of solve must be one object, { question, … }, and is ${kindOf(input)}`;
  const unknown = Object.keys(input).find((key) => !Object.hasOwn(RULES, key));
  if (unknown !== undefined) {
    return `the input of solve has no ${JSON.stringify(unknown)}: it knows ${Object.keys(RULES).join(', ')}`;
  }
  for (const [key, { isMet, expected }] of Object.entries(RULES)) {
    const isGiven = key === 'question' || Object.hasOwn(input, key);
    if (isGiven && !isMet(input[key])) return `${key} in the input of solve must be ${expected}`;
  }
  return null;
}

/** The question of an input that nobody has checked yet; empty where it has none. */
export function questionOf(input: unknown): Text {
  const question = isRecord(input) ? input.question : undefined;
  return isText(question) ? question : '';
}

interface Rule {
  readonly isMet: (value: unknown) => boolean;
  readonly expected: string;
}

const RULES: Readonly<Record<keyof SolveInput, Rule>> = {
  question: {
    isMet: (value) => isText(value) && !isBlank(value),
    expected: 'a text with at least a word, not empty (or a reference to one in the store)',
  },
  pool: {
    isMet: (value) => hasOnly(value, { allow: isIds, deny: isIds }),
    expected: '{ allow?, deny? }, lists of worker ids',
  },
  limits: {
    isMet: (value) => hasOnly(value, { steps: (steps) => isWhole(steps, 1), wallClock: isString }),
    expected: '{ steps?, wallClock? }: a whole number from 1, and a duration such as "10m"',
  },
  seed: { isMet: (value) => isWhole(value, -Infinity), expected: 'a whole number' },
  heartbeatMs: {
    isMet: (value) => isWhole(value, 1000),
    expected: 'a whole number of milliseconds, from 1000',
  },
};

function isText(value: unknown): value is Text {
  if (isString(value)) return true;
  return isRecord(value) && isString(value.ref) && Number.isFinite(value.bytes) && isString(value.preview);
}

function isBlank(text: Text): boolean {
  return typeof text === 'string' && text.trim() === '';
}

/** Whether a value is an object that holds nothing but these fields, each of them optional. */
function hasOnly(value: unknown, fields: Readonly<Record<string, (value: unknown) => boolean>>): boolean {
  return isRecord(value) && Object.entries(value).every(([key, field]) => fields[key]?.(field) ?? false);
}

function isIds(value: unknown): boolean {
  return Array.isArray(value) && value.every(isString);
}

function isWhole(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= least;
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'missing';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
