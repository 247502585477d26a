import { answerTextOf, normalizeText, plainTextOf, shortenBlanks, withoutRemarks } from './read-answer';

const LETTERS = 'ABCDEFGHIJ';

/** `A` and `I` are also words: they count in brackets, or if no ordinary word follows. */
const NO_WORD = String.raw`(?=\s{0,2}(?:$|[)\].,:;!—–\-\n<}/&]|(?:or|and|because|since|as|for)\b))`;
const LETTER = String.raw`(?:\([A-J]\)|[B-HJ]\b|[AI]\b${NO_WORD})`;
const FIRST = new RegExp(`^${LETTER}`);
/** Two letters in a row, as in `A or B`. */
const SEVERAL = new RegExp(
  String.raw`^${LETTER}\)?\s{0,2}(?:(?:,|/|&|or\b|and\b)\s{0,2}${LETTER}|\(?[A-J]\)?\s{0,2}\.?$)`,
);

/** Patterns that precede a letter within longer text, strongest first; the last match of each counts. */
const BEFORE = [
  /\\boxed\s{0,2}\{\s{0,2}(?:\\(?:text|textbf|mathrm)\s{0,2}\{\s{0,2})?/g,
  /(?:[Aa]nswer|ANSWER)\s{0,2}(?:is\b|:|=)?\s{0,2}:?\s{0,2}(?:[Oo]ption|[Cc]hoice)?\s{0,2}/g,
];
const MOST_PLACES = 20;
const REACH = 400;

const LETTER_ON_A_LINE = /^\s{0,2}\(?([A-J])\)?[.:]?\s{0,2}$/gm;

/** Reads a text that is only a letter, such as `(b)` or `B.`. Returns null for any other text. */
function readLetter(text: string): string | null {
  const letter = /^(?:(?:option|choice)\s{1,2})?\(?([A-J])\)?[.:]?$/i.exec(plainTextOf(text))?.[1];
  return letter?.toUpperCase() ?? null;
}

/** Reads a right answer that is a letter or the text of one option. Returns null for any other. */
export function readRightChoice(answer: string, options: readonly string[] = []): string | null {
  const letter = readLetter(answer);
  if (letter !== null) return within(letter, options).letter;
  return letterOfText(answer, normalizeAll(options));
}

type ReadChoice = { readonly letter: string } | { readonly letter: null; readonly reason: string };

/**
 * Reads the letter that an answer settles on. Tried in order: the answer is a letter, an option's text or its number
 * from 1; it holds `\boxed{B}` or `answer is B`, or an option's text there; a line is a letter; the answer begins with
 * one, as in `B. Paris`. An answer that names two options, or a letter with another option's text, settles on none.
 */
export function readChoice(reply: string, options: readonly string[] = []): ReadChoice {
  const answer = answerTextOf(reply);
  const texts = normalizeAll(options);
  const whole = readLetter(answer) ?? letterOfText(answer, texts) ?? letterOfNumber(answer, texts);
  if (whole !== null) return within(whole, texts);
  const text = shortenBlanks(withoutRemarks(answer).replace(/\*\*|[`$]/g, ''));
  const [boxed, named] = BEFORE.map((before) => lastBehind(before, text, texts));
  return boxed ?? named ?? onALine(text, texts) ?? first(answer, texts) ?? nothing('it names no option');
}

/** Reads the option after the last match that names any. */
function lastBehind(before: RegExp, text: string, texts: readonly string[]): ReadChoice | null {
  const places: number[] = [];
  for (const match of text.matchAll(before)) {
    places.push(match.index + match[0].length);
    if (places.length > MOST_PLACES) places.shift();
  }
  for (const place of places.reverse()) {
    const named = namedFirst(text.slice(place, place + REACH).split(/[\n}]/, 1)[0] ?? '', texts);
    if (named !== null) return named;
  }
  return null;
}

/** Reads the beginning of a line; null if it is neither a letter nor, as a whole, an option's text. */
function namedFirst(line: string, texts: readonly string[]): ReadChoice | null {
  const option = letterOfText(line, texts);
  if (option !== null) return { letter: option };
  if (SEVERAL.test(line)) return nothing('it names more than one option');
  const letter = FIRST.exec(line)?.[0];
  if (letter === undefined) return null;
  return withText(letter.replace(/[()]/g, ''), line.slice(letter.length), texts);
}

function onALine(text: string, texts: readonly string[]): ReadChoice | null {
  const letters = new Set<string>();
  for (const match of text.matchAll(LETTER_ON_A_LINE)) letters.add(match[1] ?? '');
  const [letter] = letters;
  if (letter === undefined) return null;
  return letters.size > 1 ? nothing('it names more than one option') : within(letter, texts);
}

function first(answer: string, texts: readonly string[]): ReadChoice | null {
  const [, letter, rest = ''] = /^\(?([A-J])([).:]\)?\s+\S.*)$/.exec(plainTextOf(answer)) ?? [];
  return letter === undefined
    ? null
    : (namedFirst(`${letter}${rest}`, texts) ?? withText(letter, rest, texts));
}

/** Returns a letter, unless what follows it is the text of another option. */
function withText(letter: string, rest: string, texts: readonly string[]): ReadChoice {
  const other = letterOfText(rest.replace(/^[\s).:—–-]{1,4}/, ''), texts) ?? letter;
  return other === letter
    ? within(letter, texts)
    : nothing(`its letter is ${letter}, and its text that of ${other}`);
}

function within(letter: string, options: readonly string[]): ReadChoice {
  const isThere = options.length === 0 || LETTERS.indexOf(letter) < options.length;
  return isThere ? { letter } : nothing(`there is no option ${letter}`);
}

function nothing(reason: string): ReadChoice {
  return { letter: null, reason };
}

function normalizeAll(options: readonly string[]): readonly string[] {
  return options.map((option) => normalizeText(option));
}

/** Returns the letter of the option with this text, or null if none or more than one has it. */
function letterOfText(text: string, texts: readonly string[]): string | null {
  if (texts.length === 0) return null;
  const wanted = normalizeText(text);
  const at = texts.indexOf(wanted);
  return at === -1 || at !== texts.lastIndexOf(wanted) ? null : (LETTERS[at] ?? null);
}

/** Reads an option's number. Returns null if any option begins with a number, since a number may then be its text. */
function letterOfNumber(answer: string, texts: readonly string[]): string | null {
  const number = /^(?:(?:option|choice)\s{1,2})?\(?(\d{1,2})\)?[.:]?$/i.exec(plainTextOf(answer))?.[1];
  if (number === undefined || texts.some((text) => /^\W{0,4}\d/.test(text))) return null;
  return LETTERS[Number(number) - 1] ?? null;
}
