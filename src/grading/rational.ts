/** An exact number, `over / under × 10^ten`: however large an exponent is, it takes no digits. */
export interface Rational {
  readonly over: bigint;
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

/** The nearest double; Infinity where none is large enough. */
export function toDouble({ over, under, ten }: Rational): number {
  return Number(`${over}e${ten}`) / Number(under);
}

export function isZero({ over }: Rational): boolean {
  return over === 0n;
}

export function negative({ over, under, ten }: Rational): Rational {
  return { over: -over, under, ten };
}

/** Null if it would be too large, as with the functions below. */
function sum(one: Rational, other: Rational): Rational | null {
  const ten = one.ten < other.ten ? one.ten : other.ten;
  const [left, right] = [withoutTens(one, ten), withoutTens(other, ten)];
  if (left === null || right === null) return null;
  return small({ over: left * other.under + right * one.under, under: one.under * other.under, ten });
}

function withoutTens({ over, ten }: Rational, upTo: bigint): bigint | null {
  return ten - upTo > MOST_BITS ? null : over * 10n ** (ten - upTo);
}

function product(one: Rational, other: Rational): Rational | null {
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
function power(base: Rational, exponent: Rational): Rational | null {
  const times = wholeOf(exponent);
  if (times === null || (isZero(base) && times <= 0n)) return null;
  const many = times < 0n ? -times : times;
  if (many * (bitsOf(base.over) + bitsOf(base.under) - 2n) > MOST_BITS) return null;
  const raised = { over: base.over ** many, under: base.under ** many, ten: base.ten * many };
  return times < 0n ? quotient(ONE, raised) : raised;
}

const ONE: Rational = { over: 1n, under: 1n, ten: 0n };
const MOST_FACTORIAL = 5_000n;

function factorial(number: Rational): Rational | null {
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

function bitsOf(number: bigint): bigint {
  const size = number < 0n ? -number : number;
  return size < 2n ? 1n : BigInt(4 * size.toString(16).length);
}

/**
 * The exact value of normalised LaTeX: of numbers, fractions, mixed numbers, sums, products, factorials, and powers with
 * whole exponents. Null for anything else, and for what is too large to be worked out.
 */
export function readRational(latex: string): Rational | null {
  const text = latex.trim();
  return new Reader(text.replace(MIXED, '$1($2+$3/$4)').replace(MIXED_SLASH, '$1($2+$3/$4)')).read();
}

/** Deeper nesting would only fill the stack. */
const MOST_NESTED = 40;

const MIXED = /^([-+]?)\s?(\d{1,400})\s?\\frac\{(\d{1,400})\}\{(\d{1,400})\}$/;
const MIXED_SLASH = /^([-+]?)\s?(\d{1,400})\s(\d{1,400})\/(\d{1,400})$/;

/** Whatever else stands there is a token of its own, which no rule takes. */
const TOKEN = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|\\[a-zA-Z]+|\S/g;
const TIMES = ['\\cdot', '\\times', '*'];
const OVER = ['/', '\\div'];
const BRACKETS: Readonly<Record<string, string>> = { '(': ')', '{': '}' };

/** Reads from left to right; a part that is not understood is null, and so is all of it. */
class Reader {
  private readonly tokens: readonly string[];
  private at = 0;
  private depth = 0;

  constructor(latex: string) {
    this.tokens = latex.match(TOKEN) ?? [];
  }

  read(): Rational | null {
    const number = this.sum();
    return this.at === this.tokens.length ? number : null;
  }

  private sum(): Rational | null {
    const sign = this.take(['-', '+']);
    const first = this.product();
    let total = first && sign === '-' ? negative(first) : first;
    for (let next = this.take(['-', '+']); next !== null; next = this.take(['-', '+'])) {
      const more = this.product();
      total = total && more && sum(total, next === '-' ? negative(more) : more);
    }
    return total;
  }

  private product(): Rational | null {
    let total = this.power();
    for (let next = this.take([...TIMES, ...OVER]); next !== null; next = this.take([...TIMES, ...OVER])) {
      const more = this.power();
      total = total && more && (OVER.includes(next) ? quotient(total, more) : product(total, more));
    }
    return total;
  }

  private power(): Rational | null {
    let base = this.atom();
    while (this.take(['!']) !== null) base = base && factorial(base);
    if (this.take(['^']) === null) return base;
    const exponent = this.atom();
    return base && exponent && power(base, exponent);
  }

  private atom(): Rational | null {
    const token = this.tokens[this.at] ?? '';
    if (/^[\d.]/.test(token)) {
      this.at += 1;
      return decimal(token);
    }
    if (token !== '\\frac') return this.bracketed();
    this.at += 1;
    const over = this.bracketed();
    const under = this.bracketed();
    return over && under && quotient(over, under);
  }

  private bracketed(): Rational | null {
    const close = BRACKETS[this.tokens[this.at] ?? ''];
    if (close === undefined || this.depth === MOST_NESTED) return null;
    this.at += 1;
    this.depth += 1;
    const inner = this.sum();
    this.depth -= 1;
    return this.take([close]) === null ? null : inner;
  }

  private take(among: readonly string[]): string | null {
    const token = this.tokens[this.at] ?? '';
    if (!among.includes(token)) return null;
    this.at += 1;
    return token;
  }
}
