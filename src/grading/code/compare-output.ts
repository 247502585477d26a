/**
 * Whether a program printed what it should: the same lines but for blanks around them, each the same text, or the same
 * numbers (LiveCodeBench's rule, which allows numbers no tolerance).
 */
export function isSameOutput(right: string, printed: string): boolean {
  const [wanted, given] = [linesOf(right), linesOf(printed)];
  return (
    wanted.length === given.length && wanted.every((line, index) => isSameLine(line, given[index] ?? ''))
  );
}

function linesOf(text: string): string[] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim());
}

function isSameLine(right: string, printed: string): boolean {
  if (right === printed) return true;
  const [wanted, given] = [right.split(/\s+/), printed.split(/\s+/)];
  if (wanted.length !== given.length) return false;
  return wanted.every((token, index) => {
    const number = normalizeDecimal(token);
    return number !== null && number === normalizeDecimal(given[index] ?? '');
  });
}

/** One text for all ways to write a decimal number; null for anything else. */
function normalizeDecimal(token: string): string | null {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,15}))?$/i.exec(token);
  if (match === null) return null;
  const [, sign, whole = '', fraction = '', power = '0'] = match;
  const digits = whole + fraction;
  if (digits === '') return null;
  const significant = trimZeros(digits);
  if (significant.text === '') return '0';
  const exponent = Number(power) - fraction.length + significant.behind;
  return `${sign === '-' ? '-' : ''}${significant.text}e${exponent}`;
}

/** Without zeros around it, in a loop: a pattern takes quadratic time to find those at the end. */
function trimZeros(digits: string): { readonly text: string; readonly behind: number } {
  let from = 0;
  let to = digits.length;
  while (from < to && digits[from] === '0') from += 1;
  while (to > from && digits[to - 1] === '0') to -= 1;
  return { text: digits.slice(from, to), behind: digits.length - to };
}

/** A JSON value in which a string begins with `s`, and a number or truth value is a string that begins with `n`. */
type Value = null | string | readonly Value[] | { readonly [key: string]: Value };

/**
 * Whether a function returned what it should: the same JSON value, where numbers are the same however they are written
 * and, as in Python, true is 1. Whole numbers beyond 2⁵³ count to their last digit.
 */
export function isSameValue(right: string, returned: string): boolean {
  const [wanted, given] = [readValue(right), readValue(returned)];
  return wanted !== undefined && given !== undefined && isSame(wanted, given);
}

export function isJson(text: string): boolean {
  return readValue(text) !== undefined;
}

/** Read from valid JSON alone, where each string ends: it takes linear time. */
// eslint-disable-next-line redos/no-vulnerable -- quadratic where strings do not end
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false/g;

/** undefined for what is no JSON. */
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

/** Goes no deeper than the right value does. */
function isSame(right: Value, value: Value): boolean {
  if (right === value) return true;
  if (typeof right === 'string' || typeof value === 'string') return isSameNumber(right, value);
  if (right === null || value === null || Array.isArray(right) !== Array.isArray(value)) return false;
  const [wanted, given] = [Object.entries(right), new Map(Object.entries(value))];
  return (
    wanted.length === given.size &&
    wanted.every(([key, each]: [string, Value]) => {
      const other = given.get(key);
      return other !== undefined && isSame(each, other);
    })
  );
}

/** Compares as numbers two texts that differ. */
function isSameNumber(right: Value, value: Value): boolean {
  if (typeof right !== 'string' || typeof value !== 'string') return false;
  if (!right.startsWith('n') || !value.startsWith('n')) return false;
  const [wanted, given] = [Number(right.slice(1)), Number(value.slice(1))];
  const areWhole = [right, value].every((number) => /^n-?\d+$/.test(number));
  return wanted === given && (!areWhole || wanted === 0);
}
