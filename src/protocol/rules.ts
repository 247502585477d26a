import { briefly } from '../plan/plan-error';
import { isRecord } from '../plan/validate';
import { isString, type Rule } from './messages';

/*
 * Any client may start a workflow with anything. A field without bounds can leave it hanging, where the server refuses
 * what it asks for, or code that trusts the field throws in every workflow task anew; so each workflow checks its input
 * first, and fails with a sentence. By hand, for the reason given in `input.ts`.
 */

/** A rule for each field of an input: a missing one does not compile. */
export type Rules<Checked> = { readonly [Name in keyof Checked]-?: Rule | Rules<Checked[Name]> };

/** @returns what is wrong with the input of a workflow, in a sentence; null where nothing is */
export function findFault<Checked>(workflow: string, input: unknown, rules: Rules<Checked>): string | null {
  const found = faultIn(input, rules, []);
  if (found === null) return null;
  const { path, value, expected } = found;
  const place = path.length === 0 ? 'the input' : `${path.join('.')} in the input`;
  return `${place} of ${workflow} is ${show(value)}: it must be ${expected}`;
}

interface Branch {
  readonly [name: string]: Rule | Branch;
}

interface Fault {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly expected: string;
}

function faultIn(value: unknown, rules: Rule | Branch, path: readonly string[]): Fault | null {
  if (isRule(rules)) return rules.isMet(value) ? null : { path, value, expected: rules.expected };
  if (!isRecord(value)) return { path, value, expected: `one object, { ${Object.keys(rules).join(', ')} }` };
  for (const [name, rule] of Object.entries(rules)) {
    const fault = faultIn(value[name], rule, [...path, name]);
    if (fault !== null) return fault;
  }
  return null;
}

function isRule(rules: Rule | Branch): rules is Rule {
  return typeof rules.isMet === 'function';
}

/** A value for a sentence, however long it is. */
export function show(value: unknown): string {
  return value === undefined ? 'missing' : briefly(JSON.stringify(value));
}

export function optional({ isMet, expected }: Rule): Rule {
  return { isMet: (value) => value === undefined || isMet(value), expected };
}

export function number(least: number, most: number): Rule {
  const isMet = (value: unknown): boolean => typeof value === 'number' && value >= least && value <= most;
  return { isMet, expected: `a number from ${least} to ${most}` };
}

export function text(most: number): Rule {
  const isMet = (value: unknown): boolean => isString(value) && value.length >= 1 && value.length <= most;
  return { isMet, expected: `a text of 1 to ${most} characters` };
}

export function oneOf(...values: readonly (string | number | boolean)[]): Rule {
  const expected = values.map((value) => JSON.stringify(value)).join(' or ');
  return { isMet: (value) => (values as readonly unknown[]).includes(value), expected };
}
