import { isParent } from './activities';
import { isWhole, MAX_CALLS, MAX_COST_USD } from './messages';
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

const LIMITS = {
  steps: (value: unknown) => isWhole(value, 1),
  depth: (value: unknown) => value === null || isWhole(value, 0),
  calls: (value: unknown) => isWhole(value, 1, MAX_CALLS),
  tokens: (value: unknown) => value === null || isWhole(value, 1),
  costUsd: (value: unknown) => value === null || (isNumber(value) && value >= 0 && value <= MAX_COST_USD),
  wallClock: isString,
  approval: isString,
};

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
    isMet: (value) => hasOnly(value, LIMITS),
    expected:
      `{ steps?, depth?, calls?, tokens?, costUsd?, wallClock?, approval? }: whole numbers (calls at most ${MAX_CALLS}), ` +
      'an amount of USD, and durations such as "10m"; depth, tokens and costUsd may be null for no limit',
  },
  approval: { isMet: (value) => value === 'plan' || value === 'all', expected: '"plan" or "all"' },
  priority: { isMet: (value) => isWhole(value, 1, 5), expected: 'a whole number from 1 (first) to 5 (last)' },
  tenant: {
    isMet: (value) => isString(value) && value.length >= 1 && value.length <= 64,
    expected: 'a text of 1 to 64 characters',
  },
  given: {
    isMet: (value) =>
      isRecord(value) &&
      hasOnly(value, { plan: isPlan, outputs: isOutputs }) &&
      'plan' in value &&
      'outputs' in value,
    expected:
      '{ plan: { steps: [{ worker, subtask, sees }] }, outputs }, with an output or null for each step',
  },
  parent: { isMet: isParent, expected: 'what a solve gives to a solve that it starts' },
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

function isPlan(value: unknown): boolean {
  return isRecord(value) && hasOnly(value, { steps: isSteps }) && 'steps' in value;
}

function isSteps(value: unknown): boolean {
  return Array.isArray(value) && value.every(isStep);
}

function isStep(value: unknown): boolean {
  if (!isRecord(value) || Object.keys(value).length !== 3) return false;
  const { worker, subtask, sees } = value;
  const areIndices = Array.isArray(sees) && sees.every((index) => isWhole(index, 0));
  return isString(worker) && worker !== '' && isString(subtask) && areIndices;
}

function isOutputs(value: unknown): boolean {
  return Array.isArray(value) && value.every((output) => output === null || isText(output));
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
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
