import { decimal, isSameRational } from '../rational';

/**
 * Returns whether a program printed what it should: the same lines, apart from blanks around them, each with the same
 * text or the same numbers (LiveCodeBench's rule, which allows no tolerance for numbers).
 */
export function isSameOutput(right: string, printed: string): boolean {
  return isSameList(right.trim().split('\n'), printed.trim().split('\n'), (wanted, given) => {
    if (wanted.trim() === given.trim()) return true;
    return isSameList(wanted.trim().split(/\s+/), given.trim().split(/\s+/), isSameToken);
  });
}

function isSameList<Each>(
  right: readonly Each[],
  given: readonly Each[],
  isSameEach: (right: Each, given: Each) => boolean,
): boolean {
  return (
    right.length === given.length &&
    right.every((each, index) => {
      const other = given[index];
      return other !== undefined && isSameEach(each, other);
    })
  );
}

function isSameToken(right: string, printed: string): boolean {
  const [wanted, given] = [decimal(right), decimal(printed)];
  return wanted !== null && given !== null && isSameRational(wanted, given);
}

/** A JSON value in which each string begins with `s`, and each number or boolean is a string that begins with `n`. */
type Value = null | string | readonly Value[] | { readonly [key: string]: Value };

/**
 * Returns whether a function returned what it should: the same JSON value. Numbers are equal however they are written
 * and, as in Python, true is 1. Whole numbers beyond 2⁵³ must match to their last digit.
 */
export function isSameValue(right: string, returned: string): boolean {
  const [wanted, given] = [readValue(right), readValue(returned)];
  return wanted !== undefined && given !== undefined && isSameReadValue(wanted, given);
}

export function isJson(text: string): boolean {
  return readValue(text) !== undefined;
}

/** Tokens of valid JSON only: every string ends there, so matching takes linear time. */
// eslint-disable-next-line redos/no-vulnerable -- quadratic where strings do not end
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false/g;

function readValue(json: string): Value | undefined {
  try {
    JSON.parse(json);
    const kept = json.replace(TOKEN, (token) => {
      if (token.startsWith('"')) return `"s${token.slice(1)}`;
      return `"n${token === 'true' ? '1' : token === 'false' ? '0' : token}"`;
    });
    return JSON.parse(kept) as Value;
  } catch {
    return undefined;
  }
}

/** Compares two values, no deeper than the right one goes. */
function isSameReadValue(right: Value, value: Value): boolean {
  if (right === value) return true;
  if (typeof right === 'string' || typeof value === 'string') return isSameNumber(right, value);
  if (right === null || value === null || Array.isArray(right) !== Array.isArray(value)) return false;
  const [wanted, given] = [Object.entries(right), new Map(Object.entries(value))];
  return (
    wanted.length === given.size &&
    wanted.every(([key, each]: [string, Value]) => {
      const other = given.get(key);
      return other !== undefined && isSameReadValue(each, other);
    })
  );
}

function isSameNumber(right: Value, value: Value): boolean {
  if (typeof right !== 'string' || typeof value !== 'string') return false;
  if (!right.startsWith('n') || !value.startsWith('n')) return false;
  const [wanted, given] = [Number(right.slice(1)), Number(value.slice(1))];
  const areWhole = [right, value].every((number) => /^n-?\d+$/.test(number));
  return wanted === given && (!areWhole || wanted === 0);
}
