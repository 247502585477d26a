import { plainTextOf } from './text';

const LETTERS = 'ABCDEFGHIJ';
/** A letter that a text settles on: not one of several, as in `A or B`, and not the first of a word. */
const ALONE = String.raw`\(?([A-J])\b\)?(?!\s*(?:,|\/|or\b|and\b)\s*\(?[A-J]\b)`;

/** Ways to name a choice within more text, most binding first; of each way the last one counts. */
const STATEMENTS = [
  new RegExp(String.raw`\\boxed\s*\{\s*(?:\\text\s*\{\s*)?${ALONE}`, 'g'),
  new RegExp(String.raw`(?:[Aa]nswer|ANSWER)\s*(?:is\b|:|=)?\s*:?\s*${ALONE}`, 'g'),
  /^\s*\(?([A-J])\)?[.:]?\s*$/gm,
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
  return (
    readLetter(answer) ??
    letterOfOption(plain, options) ??
    statedLetter(answer.replace(/\*\*|[`$]/g, '')) ??
    /^\(?([A-J])[).:]\)?\s+\S.*$/.exec(plain)?.[1] ??
    null
  );
}

function letterOfOption(text: string, options: readonly string[]): string | null {
  const index = options.findIndex((option) => bare(option) === bare(text));
  return index === -1 ? null : (LETTERS[index] ?? null);
}

function statedLetter(text: string): string | null {
  for (const statement of STATEMENTS) {
    const letter = [...text.matchAll(statement)].at(-1)?.[1];
    if (letter !== undefined) return letter;
  }
  return null;
}

function bare(text: string): string {
  return text.trim().replace(/\s+/g, ' ').replace(/\.$/, '').toLowerCase();
}
