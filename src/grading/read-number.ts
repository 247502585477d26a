import { isSameRational, quotient, type Rational, readRational, toDouble } from './rational';
import { answerTextOf, boxedIn, shortenBlanks, statementsIn } from './read-answer';

/** Thousands may be set apart by commas or by blanks that never end a line. */
const DIGITS = String.raw`(?:\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+`;
const EXPONENT = String.raw`\^(?:\{\s?[-+]?\d+\s?\}|[-+]?\d+)`;
/** A sign that follows a letter or digit is a hyphen or a subtraction. */
const NUMBER = String.raw`(?:(?<![\w.)])[-+]\s?)?(?:${DIGITS})(?:e[-+]?\d+)?(?:${EXPONENT})?`;
const FRACTION_OR_NUMBER = new RegExp(String.raw`(${NUMBER})(?:\s{0,2}[/⁄]\s{0,2}(${NUMBER}))?`, 'gi');
const POWER_OF_TEN =
  /\s{0,2}(?:×|\\times|\\cdot|\*|x)\s{0,2}10\s{0,2}\^\s{0,2}\{?\s{0,2}([-+]?\d+)\s{0,2}\}?/g;
/** The exponent of a unit or of an unknown is no number of its own. */
const EXPONENT_OF_LETTER = new RegExp(String.raw`([a-z}])${EXPONENT}`, 'gi');

/** A number within a text, with what stands before and behind it. */
interface FoundNumber {
  readonly number: Rational;
  readonly text: string;
  readonly before: string;
  readonly behind: string;
}

/**
 * The number that a reply settles on: in its last `\boxed{…}`; else behind the last `answer is` or `answer:` that a number
 * stands behind; else its last one. null where there is none.
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

/** The whole number in the last `\boxed{…}`; null where there is no box, or something else in it. */
export function readBoxedInteger(reply: string): Pick<FoundNumber, 'number' | 'text'> | null {
  const found = readStated(boxedIn(answerTextOf(reply)) ?? '');
  const digits = found?.text.replace(/,/g, '') ?? '';
  if (found === null || !/^[-+]?\d+$/.test(digits)) return null;
  // Leading zeros aside, so that equal votes have equal texts.
  return { number: found.number, text: digits.replace(/^([-+]?)0+(?=\d)/, '$1') };
}

const MOST_LINKS = 100;

/** The first number of `120, found in 2 steps`; of a chain such as `f(3) = 3 + 4 = 7` that behind its last sign. */
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

/** Whether nothing but a formula stands between a number and the sign of equality behind it. */
function goesOn(behind: string): boolean {
  const isInBrackets = behind.lastIndexOf('(') > behind.lastIndexOf(')');
  return !isInBrackets && !/[,;]|\.\s|[a-z]{2}/i.test(behind.replace(/\\[a-z]+/gi, ''));
}

/**
 * The last number in a text; null where there is none. It reads signs, decimals, thousands separators, exponents, powers and
 * fractions, and ignores currency, units and the per cent sign: 50 % is 50.
 */
export function readNumber(text: string): FoundNumber | null {
  const plain = spelt(text);
  let last: RegExpExecArray | undefined;
  for (last of plain.matchAll(FRACTION_OR_NUMBER));
  return last === undefined ? null : numberAt(plain, last);
}

/** In one of the ways that there are to write numbers. */
function spelt(text: string): string {
  return shortenBlanks(text)
    .replace(/−/g, '-')
    .replace(/\{,\}|\\,/g, ',')
    .replace(/\\[dt]?frac\s{0,2}\{([^{}]*)\}\s{0,2}\{([^{}]*)\}/g, '$1/$2')
    .replace(POWER_OF_TEN, 'e$1')
    .replace(EXPONENT_OF_LETTER, '$1');
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

/** Share of the right number by which rounding may miss a tolerance's bound. */
const ROUNDING = 1e-12;

/** Whether an answer is the right number, but for `tolerance` as a share of the right one. */
export function isSameNumber(right: Rational, answer: Rational, tolerance = 0): boolean {
  if (isSameRational(right, answer)) return true;
  return tolerance > 0 && isNear(toDouble(right), toDouble(answer), tolerance);
}

/** Nothing is near zero, or near what is too large or too small for a double. */
export function isNear(right: number, answer: number, tolerance: number): boolean {
  return right !== 0 && Math.abs(answer - right) <= (tolerance + ROUNDING) * Math.abs(right);
}
