/**
 * What a text settles on: a letter, a number, or itself. The texts are a model's and may be hostile: no run of blanks or
 * of marks is longer than a few when a pattern meets it, and every pattern is linear in what is left.
 */

/**
 * The part of a reply that is graded: what stands in its last `<answer>` tag, else the whole of it.
 *
 * A tag that was never closed reaches to the end of the reply, so that an answer cut at its length limit is judged by
 * what is there.
 */
export function answerTextOf(reply: string): string {
  const [, ...tagged] = reply.split(/<answer>/i);
  return (tagged.at(-1)?.split(/<\/answer>/i)[0] ?? reply).trim();
}

/** The same without typesetting: `\boxed{…}` or `\text{…}` around it, `$`, back-ticks, bold marks. */
function plainTextOf(text: string): string {
  const plain = text.replace(/[`$]|\*\*/g, '').trim();
  return /^\\(?:boxed|text|textbf|mathrm)\s*\{([^{}]*)\}\.?$/.exec(plain)?.[1]?.trim() ?? plain;
}

/**
 * A text for comparison: without typesetting, quotation marks around it and a full stop at its end, each run of blanks
 * one blank, and in lower case unless case counts.
 */
export function normalizeText(text: string, caseSensitive = false): string {
  const plain = composed(plainTextOf(text))
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\.$/, '')
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
  return caseSensitive ? plain : plain.toLowerCase();
}

/** In NFC, which takes quadratic time over a run of marks: 30 are as many as UAX 15, section 13, allows. */
export function composed(text: string): string {
  return text.replace(/\p{M}+/gu, (marks) => Array.from(marks).slice(0, 30).join('')).normalize('NFC');
}

const LETTERS = 'ABCDEFGHIJ';
/** A letter that a text settles on: not one of several, as in `A or B`, and not the first of a word. */
const ALONE = String.raw`\(?([A-J])\b\)?(?!\s{0,2}(?:,|\/|or\b|and\b)\s{0,2}\(?[A-J]\b)`;

/** Ways to name a choice within more text, most binding first; of each way the last one counts. */
const STATEMENTS = [
  new RegExp(String.raw`\\boxed\s{0,2}\{\s{0,2}(?:\\text\s{0,2}\{\s{0,2})?${ALONE}`, 'g'),
  new RegExp(String.raw`(?:[Aa]nswer|ANSWER)\s{0,2}(?:is\b|:|=)?\s{0,2}:?\s{0,2}${ALONE}`, 'g'),
  /^\s{0,2}\(?([A-J])\)?[.:]?\s{0,2}$/gm,
];

/** The letter that a text consists of, `(b)` and `B.` included; null for any other text. */
export function readLetter(text: string): string | null {
  return /^\(?([A-J])\)?[.:]?$/i.exec(plainTextOf(text))?.[1]?.toUpperCase() ?? null;
}

/**
 * The letter that an answer settles on; null where it settles on none, or on more than one.
 *
 * In this order: the answer is a letter; it is the text of an option; it holds `\boxed{B}`, `answer is B` or a line with
 * a letter alone; it is one line that begins with its letter, as in `B. Paris`.
 */
export function readChoice(answer: string, options: readonly string[] = []): string | null {
  const plain = plainTextOf(answer);
  const option = options.findIndex((each) => bare(each) === bare(plain));
  const stated = shortenBlanks(answer.replace(/\*\*|[`$]/g, ''));
  const [boxed, named, onALine] = STATEMENTS.map((statement) => lastMatch(statement, stated)?.[1]);
  const first = /^\(?([A-J])[).:]\)?\s+\S.*$/.exec(plain)?.[1];
  return readLetter(answer) ?? LETTERS[option] ?? boxed ?? named ?? onALine ?? first ?? null;
}

function bare(text: string): string {
  return text.trim().replace(/\s+/g, ' ').replace(/\.$/, '').toLowerCase();
}

/** Thousands may be set apart by commas or by blanks that never end a line. */
const DIGITS = String.raw`(?:\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+`;
/** A sign that follows a letter or digit is a hyphen or a subtraction. */
const NUMBER = String.raw`(?:(?<![\w.)])[-+]\s?)?(?:${DIGITS})(?:e[-+]?\d+)?`;
const FRACTION_OR_NUMBER = new RegExp(String.raw`(${NUMBER})(?:\s{0,2}[/⁄]\s{0,2}(${NUMBER}))?`, 'gi');
const POWER_OF_TEN =
  /\s{0,2}(?:×|\\times|\\cdot|\*|x)\s{0,2}10\s{0,2}\^\s{0,2}\{?\s{0,2}([-+]?\d+)\s{0,2}\}?/g;

/** What two ways to write one number may differ by, as a share of it: the error of a division. */
const ROUNDING = 1e-12;

interface ReadNumber {
  readonly value: number;
  /** Its digits where it is written as a whole number, since those beyond 2⁵³ count, too; else null. */
  readonly whole: string | null;
}

/**
 * The last number in a text; null where there is none.
 *
 * It reads signs, decimals, thousands separators, exponents (`2e3`, `2 × 10^3`) and fractions (`3/4`, `\frac{3}{4}`), and
 * ignores currency, units and the per cent sign: 50 % is 50.
 */
export function readNumber(text: string): ReadNumber | null {
  const plain = shortenBlanks(text)
    .replace(/−/g, '-')
    .replace(/\{,\}|\\,/g, ',')
    .replace(/\\[dt]?frac\s{0,2}\{([^{}]*)\}\s{0,2}\{([^{}]*)\}/g, '$1/$2')
    .replace(POWER_OF_TEN, 'e$1');
  const [, over, under] = lastMatch(FRACTION_OR_NUMBER, plain) ?? [];
  if (over === undefined) return null;
  if (under === undefined) return numberOf(over);
  const value = numberOf(over).value / numberOf(under).value;
  return Number.isFinite(value) ? { value, whole: null } : null;
}

/** Whether an answer is the right number, but for `tolerance` as a share of the right one. */
export function isSameNumber(right: ReadNumber, answer: ReadNumber, tolerance = 0): boolean {
  if (tolerance === 0 && right.whole !== null && answer.whole !== null) return right.whole === answer.whole;
  return Math.abs(answer.value - right.value) <= Math.max(tolerance, ROUNDING) * Math.abs(right.value);
}

function numberOf(text: string): ReadNumber {
  const digits = text.replace(/[,\s+]/g, '');
  const whole = /^-?\d+$/.test(digits) ? digits.replace(/^(-?)0+(?=\d)/, '$1') : null;
  return { value: Number(digits), whole: whole === '-0' ? '0' : whole };
}

/** Leaves at most two blanks in a row, a line break among them where there was one. */
function shortenBlanks(text: string): string {
  return text.replace(/\s{3,}/g, (blanks) => (/[\n\r\u2028\u2029]/.test(blanks) ? '\n\n' : '  '));
}

/** Without an array of all matches, of which a hostile text has a million. */
function lastMatch(pattern: RegExp, text: string): RegExpExecArray | undefined {
  let last: RegExpExecArray | undefined;
  for (const match of text.matchAll(pattern)) last = match;
  return last;
}
