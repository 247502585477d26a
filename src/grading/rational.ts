/** An exact number, `over / under × 10^ten`, so that a large exponent needs no digits. */
export interface Rational {
  readonly over: bigint;
  readonly under: bigint;
  readonly ten: bigint;
}

/** Powers with more bits are not computed. */
const MOST_BITS = 200_000;

const DECIMAL = /^([-+]?)(\d*)(?:\.(\d*))?(?:e([-+]?\d+))?$/i;

/** Reads a decimal number such as `-1.5e6`. Returns null for anything else. */
export function decimal(text: string): Rational | null {
  const [, sign, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  const digits = whole + fraction;
  if (sign === undefined || digits === '') return null;
  let end = digits.length;
  while (end > 1 && digits[end - 1] === '0') end -= 1;
  const over = BigInt(digits.slice(0, end));
  const ten = BigInt(exponent) + BigInt(digits.length - end - fraction.length);
  return { over: sign === '-' ? -over : over, under: 1n, ten };
}

export function isSameRational(one: Rational, other: Rational): boolean {
  const left = one.over * other.under;
  const right = other.over * one.under;
  if (left === 0n || right === 0n) return left === right;
  const apart = one.ten - other.ten;
  return apart < 0n ? isShifted(right, -apart, left) : isShifted(left, apart, right);
}

/** Returns whether `digits × 10^zeros` is `whole`, without computing more zeros than `whole` can have. */
function isShifted(digits: bigint, zeros: bigint, whole: bigint): boolean {
  return zeros <= bitsOf(whole) && digits * 10n ** zeros === whole;
}

/** Returns the nearest double, or Infinity if none is large enough. */
export function toDouble({ over, under, ten }: Rational): number {
  return Number(`${over}e${ten}`) / Number(under);
}

export function isZero({ over }: Rational): boolean {
  return over === 0n;
}

export function negative({ over, under, ten }: Rational): Rational {
  return { over: -over, under, ten };
}

function product(one: Rational, other: Rational): Rational {
  return { over: one.over * other.over, under: one.under * other.under, ten: one.ten + other.ten };
}

/** Returns null for a division by zero. */
export function quotient(one: Rational, other: Rational): Rational | null {
  if (other.over === 0n) return null;
  const over = one.over * other.under;
  const under = one.under * other.over;
  const ten = one.ten - other.ten;
  return under < 0n ? { over: -over, under: -under, ten } : { over, under, ten };
}

const ONE: Rational = { over: 1n, under: 1n, ten: 0n };

/** Returns null for zero to a power of zero or less, and for a power with too many digits. */
function power(base: Rational, exponent: bigint): Rational | null {
  if (isZero(base) && exponent <= 0n) return null;
  const times = exponent < 0n ? -exponent : exponent;
  if (times * bitsOf(base.over) > MOST_BITS) return null;
  const raised = { over: base.over ** times, under: 1n, ten: base.ten * times };
  return exponent < 0n ? quotient(ONE, raised) : raised;
}

function bitsOf(number: bigint): bigint {
  const size = number < 0n ? -number : number;
  return size < 2n ? 0n : BigInt(4 * size.toString(16).length);
}

const SLASHED = /^([-+]?\s?(?:\d{1,400}\s)?)([^\s/{}]+)\s?\/\s?([^\s/{}]+)$/;
const MIXED = /^([-+]?)\s?(\d{1,400})\s?\\frac\{(\d{1,400})\}\{(\d{1,400})\}$/;
const FRACTION = /^([-+]?)\s?\\frac\{([^{}]+)\}\{([^{}]+)\}$/;
const POWER = /^([-+]?)\s?([\d.]+(?:e[-+]?\d+)?)(?:\^\{?([-+]?\d+)\}?)?$/i;

/**
 * Reads the exact value of normalised LaTeX: a number, a power, a fraction, a mixed number, or a product of these.
 * Returns null for anything else, and for a power with too many digits.
 */
export function readRational(latex: string): Rational | null {
  let total: Rational | null = ONE;
  for (const part of latex.split(/\\cdot|\\times|\*/)) {
    const factor = readFactor(part.trim().replace(/^\(([^()]*)\)$/, '$1'));
    total = total && factor && product(total, factor);
  }
  return total;
}

function readFactor(text: string): Rational | null {
  const latex = text.replace(SLASHED, '$1\\frac{$2}{$3}').replace(MIXED, improper);
  const [, sign, over, under] = FRACTION.exec(latex) ?? [];
  if (over === undefined || under === undefined) return readPower(latex);
  const [above, below] = [readPower(over.trim()), readPower(under.trim())];
  const number = above && below && quotient(above, below);
  return number && sign === '-' ? negative(number) : number;
}

function improper(_: string, sign: string, whole: string, over: string, under: string): string {
  return `${sign}\\frac{${BigInt(whole) * BigInt(under) + BigInt(over)}}{${under}}`;
}

function readPower(text: string): Rational | null {
  const [, sign, base = '', exponent] = POWER.exec(text) ?? [];
  const number = decimal(base);
  const raised = number && exponent !== undefined ? power(number, BigInt(exponent)) : number;
  return raised && sign === '-' ? negative(raised) : raised;
}
