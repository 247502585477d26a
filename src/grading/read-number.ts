import { isSameRational, quotient, type Rational, readRational, toDouble } from './rational';
import { answerTextOf, boxedIn, shortenBlanks, statementsIn, withoutFractionSigns } from './read-answer';

/** Digits, with thousands separated by commas or no-break spaces. */
const DIGITS = String.raw`(?:\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+`;
const EXPONENT = String.raw`\^(?:\{\s?[-+]?\d+\s?\}|[-+]?\d+)`;
/** A sign that follows a letter or digit is a hyphen or a subtraction. */
const NUMBER = String.raw`(?:(?<![\w.)])[-+]\s?)?(?:${DIGITS})(?:e[-+]?\d+)?(?:${EXPONENT})?`;
const FRACTION = String.raw`(${NUMBER})(?:\s{0,2}[/⁄]\s{0,2}(${NUMBER}))?`;
const FRACTION_OR_NUMBER = new RegExp(FRACTION, 'gi');
/** A number that is ruled out, as in `not 204 but 205`. */
const DENIED = new RegExp(String.raw`\bnot\s{1,2}${FRACTION}`, 'gi');
const POWER_OF_TEN =
  /\s{0,2}(?:×|\\times|\\cdot|\*|x)\s{0,2}10\s{0,2}\^\s{0,2}\{?\s{0,2}([-+]?\d+)\s{0,2}\}?/g;
/** Exponent of a unit or of an unknown, which is not a number of its own. */
const EXPONENT_OF_LETTER = new RegExp(String.raw`([a-z}])${EXPONENT}`, 'gi');

/** A number within a text, with the text before and after it. */
interface FoundNumber {
  readonly number: Rational;
  readonly text: string;
  readonly before: string;
  readonly behind: string;
}

/**
 * Returns the number that a reply settles on: in its last `\boxed{…}`; else after the last `answer is` or `answer:`
 * that has one; else the last in the reply. Returns null if there is none.
 */
export function readFinalNumber(reply: string): FoundNumber | null {
  const text = answerTextOf(reply);
  const boxed = boxedIn(text) ?? '';
  if (boxed !== '') return readStated(boxed);
  for (const stated of statementsIn(text).reverse()) {
    const found = readStated(stated);
    if (found !== null) return found;
  }
  return readNumber(text);
}

/** Reads the whole number in the last `\boxed{…}`. Returns null if there is no box, or if it holds anything else. */
export function readBoxedInteger(reply: string): Pick<FoundNumber, 'number' | 'text'> | null {
  const found = readStated(boxedIn(answerTextOf(reply)) ?? '');
  const digits = found?.text.replace(/,/g, '') ?? '';
  if (found === null || !/^[-+]?\d+$/.test(digits)) return null;
  // Drops leading zeros, so that equal votes have equal texts.
  return { number: found.number, text: digits.replace(/^([-+]?)0+(?=\d)/, '$1') };
}

const MOST_LINKS = 100;

/** Reads the first number, as in `120, found in 2 steps`, or the one after the last `=`, as in `f(3) = 3 + 4 = 7`. */
function readStated(statement: string): FoundNumber | null {
  let found: FoundNumber | null = null;
  for (const part of statement.split('=', MOST_LINKS)) {
    const plain = spelt(part);
    const [match] = plain.matchAll(FRACTION_OR_NUMBER);
    found = (match && numberAt(plain, match)) ?? found;
    if (found !== null && !goesOn(found.behind)) break;
  }
  return found;
}

/** Returns whether only a formula stands between a number and the `=` after it. */
function goesOn(behind: string): boolean {
  const isInBrackets = behind.lastIndexOf('(') > behind.lastIndexOf(')');
  return !isInBrackets && !/[,;]|\.\s|[a-z]{2}/i.test(behind.replace(/\\[a-z]+/gi, ''));
}

/**
 * Reads the last number in a text, with signs, decimals, thousands separators, exponents, powers and fractions.
 * Ignores currency, units and the per cent sign: 50 % is 50. Returns null if there is none.
 */
export function readNumber(text: string): FoundNumber | null {
  const plain = spelt(text);
  let last: RegExpExecArray | undefined;
  for (last of plain.matchAll(FRACTION_OR_NUMBER));
  return last === undefined ? null : numberAt(plain, last);
}

/** Rewrites the different spellings of numbers to one. */
function spelt(text: string): string {
  return withoutFractionSigns(shortenBlanks(text))
    .replace(/−/g, '-')
    .replace(/\{,\}|\\,/g, ',')
    .replace(/\\[dt]?frac\s{0,2}\{([^{}]*)\}\s{0,2}\{([^{}]*)\}/g, '$1/$2')
    .replace(POWER_OF_TEN, 'e$1')
    .replace(EXPONENT_OF_LETTER, '$1')
    .replace(DENIED, 'not');
}

function numberAt(plain: string, match: RegExpExecArray): FoundNumber | null {
  const [text, over = '', under = '1'] = match;
  const [one, other] = [numberOf(over), numberOf(under)];
  const number = one && other && quotient(one, other);
  if (number === null) return null;
  const behind = plain.slice(match.index + text.length);
  return { number, text: text.replace(/\s/g, ''), before: plain.slice(0, match.index), behind };
}

function numberOf(text: string): Rational | null {
  return readRational(text.replace(/[,\s+]/g, ''));
}

/** Rounding error allowed beyond a tolerance, relative to the right number. */
const ROUNDING = 1e-12;

/** Returns whether an answer is the right number, within a `tolerance` relative to it. */
export function isSameNumber(right: Rational, answer: Rational, tolerance = 0): boolean {
  if (isSameRational(right, answer)) return true;
  return tolerance > 0 && isNear(toDouble(right), toDouble(answer), tolerance);
}

/** Returns whether two doubles differ by at most a relative `tolerance`. Nothing is near zero or infinity. */
export function isNear(right: number, answer: number, tolerance: number): boolean {
  return (
    right !== 0 &&
    Number.isFinite(right) &&
    Math.abs(answer - right) <= (tolerance + ROUNDING) * Math.abs(right)
  );
}
