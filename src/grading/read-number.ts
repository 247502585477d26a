import { shortenBlanks } from './read-answer';

/** Thousands may be set apart by commas or by blanks that never end a line. */
const DIGITS = String.raw`(?:\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+`;
/** A sign that follows a letter or digit is a hyphen or a subtraction. */
const NUMBER = String.raw`(?:(?<![\w.)])[-+]\s?)?(?:${DIGITS})(?:e[-+]?\d+)?`;
const FRACTION_OR_NUMBER = new RegExp(String.raw`(${NUMBER})(?:\s{0,2}[/⁄]\s{0,2}(${NUMBER}))?`, 'gi');
const POWER_OF_TEN =
  /\s{0,2}(?:×|\\times|\\cdot|\*|x)\s{0,2}10\s{0,2}\^\s{0,2}\{?\s{0,2}([-+]?\d+)\s{0,2}\}?/g;

/** What two ways to write one number may differ by, as a share of it: the error of a division. */
const ROUNDING = 1e-12;

export interface ReadNumber {
  readonly value: number;
  /** Its digits where it is written as a whole number, since those beyond 2⁵³ count, too; else null. */
  readonly whole: string | null;
}

/** A number within a text, with what stands before and behind it. */
export interface FoundNumber extends ReadNumber {
  readonly before: string;
  readonly behind: string;
}

/**
 * The last number in a text; null where there is none.
 *
 * It reads signs, decimals, thousands separators, exponents (`2e3`, `2 × 10^3`) and fractions (`3/4`, `\frac{3}{4}`), and
 * ignores currency, units and the per cent sign: 50 % is 50.
 */
export function readNumber(text: string): FoundNumber | null {
  const plain = shortenBlanks(text)
    .replace(/−/g, '-')
    .replace(/\{,\}|\\,/g, ',')
    .replace(/\\[dt]?frac\s{0,2}\{([^{}]*)\}\s{0,2}\{([^{}]*)\}/g, '$1/$2')
    .replace(POWER_OF_TEN, 'e$1');
  let match: RegExpExecArray | undefined;
  for (match of plain.matchAll(FRACTION_OR_NUMBER));
  const [whole, over, under] = match ?? [];
  if (match === undefined || whole === undefined || over === undefined) return null;
  const found = under === undefined ? numberOf(over) : quotientOf(over, under);
  if (found === null) return null;
  return { ...found, before: plain.slice(0, match.index), behind: plain.slice(match.index + whole.length) };
}

/** Whether an answer is the right number, but for `tolerance` as a share of the right one. */
export function isSameNumber(right: ReadNumber, answer: ReadNumber, tolerance = 0): boolean {
  if (tolerance === 0 && right.whole !== null && answer.whole !== null) return right.whole === answer.whole;
  return Math.abs(answer.value - right.value) <= Math.max(tolerance, ROUNDING) * Math.abs(right.value);
}

function quotientOf(over: string, under: string): ReadNumber | null {
  const value = numberOf(over).value / numberOf(under).value;
  return Number.isFinite(value) ? { value, whole: null } : null;
}

function numberOf(text: string): ReadNumber {
  const digits = text.replace(/[,\s+]/g, '');
  const whole = /^-?\d+$/.test(digits) ? digits.replace(/^(-?)0+(?=\d)/, '$1') : null;
  return { value: Number(digits), whole: whole === '-0' ? '0' : whole };
}
