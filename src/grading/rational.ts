/** An exact number, `over / under × 10^ten`: however large an exponent is, it takes no digits. */
export interface Rational {
  readonly over: bigint;
  /** Positive. */
  readonly under: bigint;
  readonly ten: bigint;
}

/** Powers, sums and products with more bits are not worked out. */
const MOST_BITS = 200_000;

const DECIMAL = /^([-+]?)(\d*)(?:\.(\d*))?(?:e([-+]?\d+))?$/i;

/** Reads `-1.5e6`; null where there is no digit, or anything else. */
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

/** Whether `digits × 10^zeros` is `whole`, without writing down zeros that it cannot have. */
function isShifted(digits: bigint, zeros: bigint, whole: bigint): boolean {
  return zeros <= bitsOf(whole) && digits * 10n ** zeros === whole;
}

export function isZero({ over }: Rational): boolean {
  return over === 0n;
}

export function negative({ over, under, ten }: Rational): Rational {
  return { over: -over, under, ten };
}

/** Null if it would be too large, as with the functions below. */
export function sum(one: Rational, other: Rational): Rational | null {
  const ten = one.ten < other.ten ? one.ten : other.ten;
  const [left, right] = [withoutTens(one, ten), withoutTens(other, ten)];
  if (left === null || right === null) return null;
  return small({ over: left * other.under + right * one.under, under: one.under * other.under, ten });
}

function withoutTens({ over, ten }: Rational, upTo: bigint): bigint | null {
  return ten - upTo > MOST_BITS ? null : over * 10n ** (ten - upTo);
}

export function product(one: Rational, other: Rational): Rational | null {
  return small({ over: one.over * other.over, under: one.under * other.under, ten: one.ten + other.ten });
}

/** null for a division by zero, too. */
export function quotient(one: Rational, other: Rational): Rational | null {
  if (other.over === 0n) return null;
  const over = one.over * other.under;
  const under = one.under * other.over;
  const ten = one.ten - other.ten;
  return under < 0n ? { over: -over, under: -under, ten } : { over, under, ten };
}

/** null for an exponent that is no whole number, and for a power of zero that is none, too. */
export function power(base: Rational, exponent: Rational): Rational | null {
  const times = wholeOf(exponent);
  if (times === null || (isZero(base) && times <= 0n)) return null;
  const many = times < 0n ? -times : times;
  if (many * (bitsOf(base.over) + bitsOf(base.under) - 2n) > MOST_BITS) return null;
  const raised = { over: base.over ** many, under: base.under ** many, ten: base.ten * many };
  return times < 0n ? quotient(ONE, raised) : raised;
}

const ONE: Rational = { over: 1n, under: 1n, ten: 0n };
const MOST_FACTORIAL = 5_000n;

export function factorial(number: Rational): Rational | null {
  const whole = wholeOf(number);
  if (whole === null || whole < 0n || whole > MOST_FACTORIAL) return null;
  let over = 1n;
  for (let factor = 2n; factor <= whole; factor += 1n) over *= factor;
  return { over, under: 1n, ten: 0n };
}

function wholeOf({ over, under, ten }: Rational): bigint | null {
  if (ten > MOST_BITS || -ten > MOST_BITS) return null;
  const [above, below] = ten < 0n ? [over, under * 10n ** -ten] : [over * 10n ** ten, under];
  return above % below === 0n ? above / below : null;
}

function small(number: Rational): Rational | null {
  return bitsOf(number.over) + bitsOf(number.under) > MOST_BITS ? null : number;
}

/** At most three too many; 1 for 1. */
function bitsOf(number: bigint): bigint {
  const size = number < 0n ? -number : number;
  return size < 2n ? 1n : BigInt(4 * size.toString(16).length);
}
