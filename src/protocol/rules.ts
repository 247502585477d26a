import { briefly, quoteBriefly } from '../plan/plan-error';
import { isRecord } from '../plan/validate';

// Rules for messages, and for inputs of nights and evaluations: workflow code that trusts a field throws in every task
// anew. Plain code, since zod would double the bundle and cost each run's context 8 ms of processor time to load.

/** Condition on a value, and its description. */
export interface Rule {
  readonly isMet: (value: unknown) => boolean;
  readonly expected: string;
  /** Finds the part that is wrong, for a rule on parts. */
  readonly faultIn?: (value: unknown, path: Path) => Fault | null;
}

/** A rule for each field of an object: a missing one does not compile. Other fields are left alone. */
export type Rules<Checked> = { readonly [Name in keyof Checked]-?: Rule | Rules<Checked[Name]> };

/** Rules of whatever object, for what is made of them. */
interface Branch {
  readonly [name: string]: Rule | Branch;
}

type Path = readonly string[];

interface Fault {
  readonly path: Path;
  readonly value: unknown;
  readonly expected: string;
}

/** Finds the fault of a workflow's input, in a sentence; null: none. */
export function findFault<Checked>(
  workflow: string,
  input: unknown,
  rules: Rule | Rules<Checked>,
): string | null {
  const fault = faultIn(input, rules, []);
  if (fault === null) return null;
  const { path, value, expected } = fault;
  const place = path.length === 0 ? 'the input' : `${path.join('.')} in the input`;
  return `${place} of ${workflow} is ${show(value)}: it must be ${expected}`;
}

function faultIn(value: unknown, rules: Rule | Branch, path: Path): Fault | null {
  if (isRule(rules)) {
    if (rules.faultIn !== undefined) return rules.faultIn(value, path);
    return rules.isMet(value) ? null : { path, value, expected: rules.expected };
  }
  if (!isRecord(value)) return { path, value, expected: describe(rules) };
  for (const [name, rule] of Object.entries(rules)) {
    const fault = faultIn(value[name], rule, [...path, name]);
    if (fault !== null) return fault;
  }
  return null;
}

function isRule(rules: Rule | Branch): rules is Rule {
  return typeof rules.isMet === 'function';
}

function describe(rules: Rule | Branch): string {
  return isRule(rules) ? rules.expected : `one object, { ${Object.keys(rules).join(', ')} }`;
}

/** A value for a sentence, however long it is. */
function show(value: unknown): string {
  return value === undefined ? 'missing' : briefly(JSON.stringify(value));
}

function onParts(expected: string, find: (value: unknown, path: Path) => Fault | null): Rule {
  return { expected, faultIn: find, isMet: (value) => find(value, []) === null };
}

export function optional<Checked>(rules: Rule | Rules<Checked>): Rule {
  return or(undefined, 'left out', rules);
}

/** @param what describes the null */
export function orNull<Checked>(rules: Rule | Rules<Checked>, what = 'null'): Rule {
  return or(null, what, rules);
}

/** The description of a value as a whole says what else it may be; those of its parts do not. */
function or<Checked>(other: unknown, what: string, rules: Rule | Rules<Checked>): Rule {
  return onParts(`${describe(rules)}, or ${what}`, (value, path) => {
    const fault = value === other ? null : faultIn(value, rules, path);
    return fault?.path === path ? { ...fault, expected: `${fault.expected}, or ${what}` } : fault;
  });
}

/** An object that has no other fields, each of them optional. */
export function only<Checked>(rules: Rules<Checked>): Rule {
  const branch = rules as Branch;
  const expected = `{ ${Object.keys(rules).join('?, ')}? }`;
  return onParts(expected, (value, path) => {
    if (!isRecord(value)) return { path, value, expected };
    for (const [name, part] of Object.entries(value)) {
      const rule = Object.hasOwn(branch, name) ? branch[name] : undefined;
      const place = [...path, rule === undefined ? quoteBriefly(name) : name];
      const fault =
        rule === undefined
          ? { path: place, value: part, expected: `left out; known are ${Object.keys(rules).join(', ')}` }
          : faultIn(part, rule, place);
      if (fault !== null) return fault;
    }
    return null;
  });
}

export function listOf<Checked>(rules: Rule | Rules<Checked>, least = 0, most = Infinity): Rule {
  const range = most === Infinity ? (least === 0 ? '' : `at least ${least}, `) : `${least} to ${most}, `;
  const expected = `a list: ${range}each ${describe(rules)}`;
  return onParts(expected, (value, path) => {
    if (!Array.isArray(value) || value.length < least || value.length > most)
      return { path, value, expected };
    for (const [index, item] of value.entries()) {
      const fault = faultIn(item, rules, [...path, String(index)]);
      if (fault !== null) return fault;
    }
    return null;
  });
}

function oneOf(...values: readonly (string | number | boolean | null)[]): Rule {
  const expected = values.map((value) => JSON.stringify(value)).join(' or ');
  return { isMet: (value) => (values as readonly unknown[]).includes(value), expected };
}

export function number(least: number, most: number): Rule {
  const isMet = (value: unknown): boolean => typeof value === 'number' && value >= least && value <= most;
  return { isMet, expected: `a number from ${least} to ${most}` };
}

export function whole(least: number, most = Infinity): Rule {
  const range = least === -Infinity ? '' : most === Infinity ? ` from ${least}` : ` from ${least} to ${most}`;
  return { isMet: (value) => isWhole(value, least, most), expected: `a whole number${range}` };
}

export function isWhole(value: unknown, least: number, most = Infinity): boolean {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
}

export function text(most: number): Rule {
  const isMet = (value: unknown): boolean => isString(value) && value.length >= 1 && value.length <= most;
  return { isMet, expected: `a text of 1 to ${most} characters` };
}

export function isString(value: unknown): value is string {
  return typeof value === 'string';
}

export const flag = oneOf(true, false);

/** Checked by the local activity `conductor.checkRun`, or by the solve that it is passed to. */
export const given: Rule = { isMet: isRecord, expected: 'one object' };

export const givenModel: Rule = {
  isMet: (card) => isRecord(card) && card.kind === 'model',
  expected: 'the card of a model',
};
