/** An exact number. */
export interface Rational {
  readonly over: bigint;
  /** Positive. */
  readonly under: bigint;
}

const DECIMAL = String.raw`[-+]?\s?(?:\d{1,2000}(?:\.\d{0,2000})?|\.\d{1,2000})`;
const NUMBER = new RegExp(`^${DECIMAL}$`);
const POWER_OF_TEN = new RegExp(String.raw`^(${DECIMAL})\s?(?:\\times|\\cdot)\s?10\^\{?([-+]?\d{1,3})\}?$`);
const EXPONENT = new RegExp(String.raw`^(${DECIMAL})[eE]([-+]?\d{1,3})$`);
const FRACTION = new RegExp(String.raw`^([-+]?)\s?\\frac\{(${DECIMAL})\}\{(${DECIMAL})\}$`);
const SLASH = new RegExp(String.raw`^(${DECIMAL})\s?/\s?(${DECIMAL})$`);
const MIXED = /^([-+]?)\s?(\d{1,400})\s?\\frac\{(\d{1,400})\}\{(\d{1,400})\}$/;
const MIXED_SLASH = /^([-+]?)\s?(\d{1,400})\s(\d{1,400})\/(\d{1,400})$/;

/** Each way to write one: what its pattern finds, and what it is worth. */
const WAYS: readonly (readonly [RegExp, (found: readonly string[]) => Rational | null])[] = [
  [NUMBER, ([text = '']) => decimal(text)],
  [POWER_OF_TEN, ([, digits = '', exponent]) => scale(decimal(digits), Number(exponent))],
  [EXPONENT, ([, digits = '', exponent]) => scale(decimal(digits), Number(exponent))],
  [FRACTION, ([, sign, over = '', under = '']) => signed(sign, quotient(decimal(over), decimal(under)))],
  [SLASH, ([, over = '', under = '']) => quotient(decimal(over), decimal(under))],
  [MIXED, mixed],
  [MIXED_SLASH, mixed],
];

/** The exact value of a number, a fraction, a mixed number or a power of ten; null for anything else. */
export function readRational(latex: string): Rational | null {
  const text = latex.trim();
  for (const [pattern, read] of WAYS) {
    const found = pattern.exec(text);
    if (found !== null) return read(found);
  }
  return null;
}

function mixed([, sign, whole = '', over = '', under = '']: readonly string[]): Rational | null {
  const part = quotient(decimal(over), decimal(under));
  return signed(sign, part && { over: BigInt(whole) * part.under + part.over, under: part.under });
}

export function isSameRational(one: Rational, other: Rational): boolean {
  return one.over * other.under === other.over * one.under;
}

function decimal(text: string): Rational {
  const [whole = '', fraction = ''] = text.replace(/[\s+]/g, '').split('.');
  const digits = `${whole}${fraction}`.replace('-', '');
  const over = BigInt(digits === '' ? '0' : digits);
  return { over: whole.startsWith('-') ? -over : over, under: 10n ** BigInt(fraction.length) };
}

function scale({ over, under }: Rational, exponent: number): Rational {
  const power = 10n ** BigInt(Math.abs(exponent));
  return exponent < 0 ? { over, under: under * power } : { over: over * power, under };
}

function quotient(one: Rational, other: Rational): Rational | null {
  if (other.over === 0n) return null;
  const over = one.over * other.under;
  const under = one.under * other.over;
  return under < 0n ? { over: -over, under: -under } : { over, under };
}

function signed(sign: string | undefined, number: Rational | null): Rational | null {
  return number === null || sign !== '-' ? number : { over: -number.over, under: number.under };
}
