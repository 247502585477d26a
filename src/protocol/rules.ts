import { quoteBriefly, showBriefly } from '../plan/plan-error';
import { isRecord } from '../plan/validate';

// Rules for messages and for inputs of evaluations: workflow code that trusts a wrong field fails every task again. No
// zod, since it would double the bundle and cost each run's context 8 ms of processor time to load.

export interface Rule {
  readonly isMet: (value: unknown) => boolean;
  readonly expected: string;
}

/** One rule for each field of an object; a missing rule does not compile. */
export type Rules<Checked> = { readonly [Name in keyof Checked]-?: Rule };

/** Returns a sentence on the first fault of a workflow's or update's input, or null. Ignores other fields. */
export function findFault<Checked>(receiver: string, input: unknown, rules: Rules<Checked>): string | null {
  const tell = (place: string, value: unknown, expected: string): string =>
    `${place} of ${receiver} is ${show(value)}: it must be ${expected}`;
  if (!isRecord(input)) return tell('the input', input, `one object, { ${Object.keys(rules).join(', ')} }`);
  for (const [name, { isMet, expected }] of Object.entries<Rule>(rules)) {
    if (!isMet(input[name])) return tell(`${name} in the input`, input[name], expected);
  }
  return null;
}

/** Checks a change as `findFault` does, but each field may be left out, and unknown ones are faults. */
export function findFaultOfChange<Checked>(
  receiver: string,
  change: unknown,
  rules: Rules<Checked>,
): string | null {
  const names = Object.keys(rules);
  for (const name of isRecord(change) ? Object.keys(change) : []) {
    const problem = `it must be left out; known are ${names.join(', ')}`;
    if (!names.includes(name))
      return `${quoteBriefly(name)} in the input of ${receiver} is unknown: ${problem}`;
  }
  const named = Object.entries<Rule>(rules).filter(([name]) => !isRecord(change) || name in change);
  return findFault(receiver, change, Object.fromEntries(named));
}

function show(value: unknown): string {
  return value === undefined ? 'missing' : showBriefly(value);
}

export function optional({ isMet, expected }: Rule): Rule {
  return { isMet: (value) => value === undefined || isMet(value), expected: `${expected}, or left out` };
}

/** @param what describes null */
export function orNull({ isMet, expected }: Rule, what: string): Rule {
  return { isMet: (value) => value === null || isMet(value), expected: `${expected}, or ${what}` };
}

export function listOf({ isMet, expected }: Rule, least: number, most: number): Rule {
  return {
    isMet: (value) =>
      Array.isArray(value) && value.length >= least && value.length <= most && value.every(isMet),
    expected: `a list: ${least} to ${most}, each ${expected}`,
  };
}

export function number(least: number, most: number): Rule {
  const isMet = (value: unknown): boolean => typeof value === 'number' && value >= least && value <= most;
  return { isMet, expected: `a number from ${least} to ${most}` };
}

export function whole(least: number, most = Infinity): Rule {
  const range = most === Infinity ? `from ${least}` : `from ${least} to ${most}`;
  return { isMet: (value) => isWhole(value, least, most), expected: `a whole number ${range}` };
}

export function isWhole(value: unknown, least: number, most = Infinity): value is number {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
}

export function text(most: number): Rule {
  const isMet = (value: unknown): boolean => isString(value) && value.length >= 1 && value.length <= most;
  return { isMet, expected: `a text of 1 to ${most} characters` };
}

export function isString(value: unknown): value is string {
  return typeof value === 'string';
}

export const flag: Rule = { isMet: (value) => typeof value === 'boolean', expected: 'true or false' };

/** Checked by `conductor.checkRun`, or by the solve that receives it. */
export const given: Rule = { isMet: isRecord, expected: 'one object' };

export const givenModel: Rule = {
  isMet: (card) => isRecord(card) && card.kind === 'model',
  expected: 'the card of a model',
};

/** W3C `traceparent` of version 00 (https://www.w3.org/TR/trace-context): trace id, span id, flags. */
export const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
export const A_TRACEPARENT = 'expected a W3C traceparent: 00-<32 hex digits>-<16>-<2>, in lower case';
