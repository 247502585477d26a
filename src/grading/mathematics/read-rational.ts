import { decimal, factorial, negative, power, product, quotient, type Rational, sum } from '../rational';

/** Deeper nesting would only fill the stack. */
const MOST_NESTED = 40;

/**
 * The exact value of normalised LaTeX: of numbers, fractions, mixed numbers, sums, products, factorials, and powers with
 * whole exponents. null for anything else, and for what is too large to be worked out.
 */
export function readRational(latex: string): Rational | null {
  const text = latex.trim();
  return new Reader(text.replace(MIXED, '$1($2+$3/$4)').replace(MIXED_SLASH, '$1($2+$3/$4)')).read();
}

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
