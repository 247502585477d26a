/** Thousands may be set apart by commas or by blanks that never end a line. */
const DIGITS = String.raw`(?:\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+`;
/** A sign that follows a letter or digit is a hyphen or a subtraction. */
const NUMBER = String.raw`(?:(?<![\w.)])[-+]\s?)?(?:${DIGITS})(?:e[-+]?\d+)?`;
const FRACTION_OR_NUMBER = new RegExp(String.raw`(${NUMBER})(?:\s*[/⁄]\s*(${NUMBER}))?`, 'gi');

/** What two ways to write one number may differ by, as a share of it: the error of a division. */
const ROUNDING = 1e-12;

/** A number that was read out of a text. */
interface ReadNumber {
  readonly value: number;
  /** Its digits where it is written as a whole number, since those beyond 2⁵³ count, too; else null. */
  readonly whole: bigint | null;
}

/**
 * The last number in a text; null where there is none.
 *
 * Understood are signs, decimals, thousands separators, exponents (`2e3`, `2 × 10^3`) and fractions (`3/4`,
 * `\frac{3}{4}`). Currency, units and the per cent sign are passed over: 50 % is 50.
 */
export function readNumber(text: string): ReadNumber | null {
  const plain = text
    .replace(/−/g, '-')
    .replace(/\{,\}|\\,/g, ',')
    .replace(/\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, '$1/$2')
    .replace(/\s*(?:×|\\times|\\cdot|\*|x)\s*10\s*\^\s*\{?\s*([-+]?\d+)\s*\}?/g, 'e$1');
  const last = [...plain.matchAll(FRACTION_OR_NUMBER)].at(-1);
  if (last?.[1] === undefined) return null;
  return last[2] === undefined ? numberOf(last[1]) : quotientOf(last[1], last[2]);
}

/** Whether an answer is the right number, but for `tolerance` as a share of the right one. */
export function isSameNumber(right: ReadNumber, answer: ReadNumber, tolerance = 0): boolean {
  if (tolerance === 0 && right.whole !== null && answer.whole !== null) return right.whole === answer.whole;
  return Math.abs(answer.value - right.value) <= Math.max(tolerance, ROUNDING) * Math.abs(right.value);
}

function numberOf(text: string): ReadNumber {
  const digits = text.replace(/[,\s]/g, '').replace(/^\+/, '');
  return { value: Number(digits), whole: /^-?\d+$/.test(digits) ? BigInt(digits) : null };
}

function quotientOf(over: string, under: string): ReadNumber | null {
  const value = numberOf(over).value / numberOf(under).value;
  return Number.isFinite(value) ? { value, whole: null } : null;
}
