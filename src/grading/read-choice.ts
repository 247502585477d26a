import {
  answerTextOf,
  closingOf,
  normalizeText,
  plainTextOf,
  shortenBlanks,
  STATED,
  withoutRemarks,
} from './read-answer';

const LETTERS = 'ABCDEFGHIJ';

const BOX = /\\boxed\s{0,2}\{/g;
/** Words before a letter, strongest first, as public graders of multiple choice read them. */
const STATEMENTS = [
  [STATED, /\banswer\s{1,2}/gi],
  [/\b(?:correct|right|best|final|only|my)\s(?:option|choice)(?:\sis\b|\s{0,2}[:：])/gi],
  [/\bI(?:['’](?:d|ll)|\swould|\swill)?\s(?:choose|select|pick|go with)\s/gi],
];
const OPTION = /^\s{0,2}(?:(?:option|choice)\b)?\s{0,2}/i;
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
 * from 1; it holds `\boxed{B}`, `answer is B` or `correct option is B`, or an option's text there; a line is a letter;
 * the answer begins with one, as in `B. Paris`. An answer that names two options, or a letter with another option's
 * text, settles on none.
 */
export function readChoice(reply: string, options: readonly string[] = []): ReadChoice {
  const answer = answerTextOf(reply);
  const texts = normalizeAll(options);
  const whole = readLetter(answer) ?? letterOfText(answer, texts) ?? letterOfNumber(answer, texts);
  if (whole !== null) return within(whole, texts);
  const text = withoutTypesetting(shortenBlanks(withoutRemarks(answer)));
  const places = [inBoxes(text), ...STATEMENTS.map((words) => behind(words, text))];
  for (const named of places.flat()) {
    const found = readNamed(named, texts);
    if (found !== null) return found;
  }
  return onALine(text, texts) ?? first(answer, texts) ?? nothing('it names no option');
}

/** Drops bold marks, `$`, back-ticks, text commands of LaTeX, and quotation marks around a letter or a JSON key. */
function withoutTypesetting(text: string): string {
  return withoutTextCommands(text.replace(/\*\*|[`$]/g, '')).replace(/"(answer|[A-J])"/gi, '$1');
}

function withoutTextCommands(text: string): string {
  return text.replace(/\\(?:text|textbf|textit|textrm|mathrm|mathbf)\s{0,2}\{([^{}]{0,400})\}/g, '$1');
}

/** A place where an option may be named, and whether nothing but its letter or text may stand there. */
interface OptionPlace {
  readonly line: string;
  readonly isBox: boolean;
}

/** Returns the contents of the last boxes, the last one first. */
function inBoxes(text: string): OptionPlace[] {
  return placesBehind([BOX], text).map((place) => {
    const open = text.slice(place - 1, place + REACH);
    return { line: open.slice(1, closingOf(open, 0, '{}') ?? open.length).trim(), isBox: true };
  });
}

/** Returns the rest of the line after each of the last matches, the last one first. */
function behind(words: readonly RegExp[], text: string): OptionPlace[] {
  return placesBehind(words, text).map((place) => {
    const rest = text.slice(place, place + REACH).replace(OPTION, '');
    return { line: rest.split('\n', 1)[0] ?? '', isBox: false };
  });
}

function placesBehind(patterns: readonly RegExp[], text: string): number[] {
  const matches = patterns.flatMap((pattern) => [...text.matchAll(pattern)]);
  const places = matches.map((match) => match.index + match[0].length);
  return places.sort((one, other) => other - one).slice(0, MOST_PLACES);
}

/** Reads the beginning of a line; null if it is neither a letter nor, as a whole, an option's text. */
function readNamed({ line, isBox }: OptionPlace, texts: readonly string[]): ReadChoice | null {
  // In JSON, a closing brace follows.
  const option = letterOfText(line, texts) ?? letterOfText(line.replace(/\s{0,2}\}$/, ''), texts);
  if (option !== null) return { letter: option };
  const mark = readMark(line, isBox);
  if (mark === null) return null;
  return namesAnother(mark.rest)
    ? nothing('it names more than one option')
    : withText(mark.letter, mark.rest, texts);
}

interface Mark {
  readonly letter: string;
  readonly rest: string;
}

/** What follows a letter that stands alone: the line's end, a closing mark, or a full stop or colon and a blank. */
const ENDS = /^\s{0,2}(?:$|[)\]},;!?—–&。，；！？]|<\/|[.:](?:\s|$))/;
/** What follows a letter of a formula or a word, as in `E = mc^2`, `C(n, k)`, `F'`, `D-glucose`. */
const IN_A_FORMULA = /^(?:\s{0,2}[=^_+*<>\\≈]|['’(]|-\S)/;
/** What follows `A` and `I` if they are letters and no words. */
const NO_WORD = /^\s{0,2}(?:[-/]|(?:or|and|because|since|as|for)\b)/;

/** A letter in brackets, or one that no letter or digit follows; and the rest of the line. */
const MARK = /^(?:[([{]([A-J])[)\]}]|([A-J])(?![\p{L}\p{N}]))(.*)$/isu;

/** Reads the letter at the beginning of a line. A small one, or one in a box, counts only if it stands alone. */
function readMark(line: string, isBox: boolean): Mark | null {
  const [, bracketed, bare, rest = ''] = MARK.exec(line) ?? [];
  const written = bracketed ?? bare;
  if (written === undefined) return null;
  const mark = { letter: written.toUpperCase(), rest };
  const isAlone = bracketed !== undefined || ENDS.test(rest) || namesAnother(rest);
  return isAlone || (!isBox && isCapital(written, rest)) ? mark : null;
}

/** Returns whether a letter is a capital that belongs to no formula and is no word. */
function isCapital(written: string, rest: string): boolean {
  if (!LETTERS.includes(written) || IN_A_FORMULA.test(rest)) return false;
  return !'AI'.includes(written) || NO_WORD.test(rest);
}

/** Returns whether another letter follows, as in `A or B`. */
function namesAnother(rest: string): boolean {
  const [, joint, next = ''] = /^\)?\s{0,2}(,|\/|&|or\b|and\b|)\s{0,2}(.*)$/s.exec(rest) ?? [];
  const other = readMark(next, false);
  return other !== null && (joint !== '' || /^\s{0,2}\.?$/.test(other.rest));
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
    : (readNamed({ line: `${letter}${rest}`, isBox: false }, texts) ?? withText(letter, rest, texts));
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
  return options.map((option) => normalizeText(withoutTextCommands(option)));
}

/** Returns the letter of the option with this text, or null if none or more than one has it. */
function letterOfText(text: string, texts: readonly string[]): string | null {
  if (texts.length === 0) return null;
  const wanted = normalizeText(withoutTextCommands(text));
  const at = texts.indexOf(wanted);
  return at === -1 || at !== texts.lastIndexOf(wanted) ? null : (LETTERS[at] ?? null);
}

/** Reads an option's number. Returns null if any option begins with a number, since a number may then be its text. */
function letterOfNumber(answer: string, texts: readonly string[]): string | null {
  const number = /^(?:(?:option|choice)\s{1,2})?\(?(\d{1,2})\)?[.:]?$/i.exec(plainTextOf(answer))?.[1];
  if (number === undefined || texts.some((text) => /^\W{0,4}\d/.test(text))) return null;
  return LETTERS[Number(number) - 1] ?? null;
}
