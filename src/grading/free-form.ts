import { isZero, negative, type Rational, toDouble } from './rational';
import { finalAnswerOf, normalizeText, shortenBlanks } from './read-answer';
import { isNear, isSameNumber, readNumber } from './read-number';
import { comparableAs, readUnit, type Unit } from './units';
import { type Grade, gradeOf, shown } from './verdict';

const MOST_CHARACTERS = 10_000;
const MOST_ITEMS = 100;

/**
 * Grades free text by rules: a number with its unit, per cent sign or currency; a list in any order; or else the same
 * text, apart from case, blanks, typesetting and a leading article.
 *
 * @param tolerance relative to the right quantity
 */
export function gradeFreeForm(right: string, reply: string, tolerance = 0): Grade {
  const say = gradeOf.bind(null, 'freeform/7');
  const answer = finalAnswerOf(reply);
  const text = plain(answer);
  if (text === '') return say('unparseable', null, 'there is no answer');
  if (text === plain(right)) return say('correct', answer, 'it is the same text');
  const items = itemsOf(right);
  if (items.length > 1) {
    const fault = faultOfList(items, itemsOf(answer));
    return fault === null ? say('correct', answer, 'it has the same items') : say('wrong', answer, fault);
  }
  const wanted = readQuantity(right);
  if (wanted?.isAll !== true) return say('wrong', answer, `the text differs from ${shown(right)}`);
  const found = readQuantity(answer);
  if (found === null) return say('unparseable', null, 'it contains no number');
  return isSameQuantity(wanted, found, tolerance)
    ? say('correct', answer, 'it is the same quantity')
    : say('wrong', answer, `the quantity differs from ${shown(right)}`);
}

/** Returns whether answers can be compared with a right answer. */
export function isFreeForm(right: string): boolean {
  return plain(right) !== '' && right.length <= MOST_CHARACTERS;
}

function faultOfList(right: readonly string[], left: string[]): string | null {
  if (left.length !== right.length) return `it has ${left.length} items instead of ${right.length}`;
  for (const item of right) {
    const at = left.findIndex((each) => isSameItem(item, each));
    if (at === -1) return `it lacks ${shown(item)}`;
    left.splice(at, 1);
  }
  return null;
}

function isSameItem(right: string, answer: string): boolean {
  if (plain(right) === plain(answer)) return true;
  const [wanted, found] = [readQuantity(right), readQuantity(answer)];
  return wanted?.isAll === true && found?.isAll === true && isSameQuantity(wanted, found);
}

/** Separators of a list; a comma before three digits separates thousands. */
const BETWEEN = /[;\n]|,(?!\d{3}(?!\d))|\s(?:and|&)\s/;

function itemsOf(text: string): string[] {
  if (text.length > MOST_CHARACTERS) return [text];
  const open = shortenBlanks(text)
    .trim()
    .replace(/^(?:\\?[{[(])/, '')
    .replace(/(?:\\?[}\])])\.?$/, '');
  const items = open
    .split(BETWEEN)
    .map((item) => item.trim().replace(/^(?:[-*•]|\d{1,2}[.)]|and)\s{1,2}/, ''))
    .filter((item) => item !== '');
  return items.length > MOST_ITEMS ? [text] : items;
}

function plain(text: string): string {
  return normalizeText(text).replace(/^(?:the|an?)\s/, '');
}

interface Quantity {
  readonly number: Rational;
  readonly unit: Unit | null;
  /** Whether the text consists of the quantity, unlike `about 5 km away`. */
  readonly isAll: boolean;
}

const WORDS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const SCALES: Readonly<Record<string, bigint>> = { thousand: 3n, million: 6n, billion: 9n, trillion: 12n };
const CURRENCY = /(us\$|[$€£¥₹]|\b(?:usd|eur|gbp|jpy|inr))\s?$/i;

/** Reads the last number in a text with its unit, per cent sign or currency. Returns null if there is none. */
function readQuantity(text: string): Quantity | null {
  const word = WORDS.indexOf(text.trim().toLowerCase());
  const inDigits = word === -1 ? text : String(word);
  // Squares and cubes belong to the unit.
  const plain = inDigits
    .replace(/\\([%$])/g, '$1')
    .replace(/([a-z])\^(?:\{2\}|2)/gi, '$1²')
    .replace(/([a-z])\^(?:\{3\}|3)/gi, '$1³');
  const found = readNumber(plain);
  if (found === null) return null;
  const signed = found.before.slice(-20).trimEnd().replace(/-$/, '');
  const currency = CURRENCY.exec(signed)?.[1];
  const { scale, unit, isShort } = readBehind(found.behind);
  const number = { ...found.number, ten: found.number.ten + scale };
  // The sign of `-$5`, which a currency separates from its number.
  const isNegative = currency !== undefined && /-\s?$/.test(signed.slice(0, -currency.length));
  return {
    number: isNegative ? negative(number) : number,
    unit: currency === undefined ? unit : readUnit(currency),
    isAll: found.before.trim().replace(CURRENCY, '').replace(/-$/, '') === '' && isShort,
  };
}

/** Reads a scale word and a unit after a number; `isShort` means that at most two further words follow. */
function readBehind(behind: string): { scale: bigint; unit: Unit | null; isShort: boolean } {
  const near = behind.slice(0, 60).trim();
  const [scaleWord = ''] = /^[a-z]{1,9}\b/i.exec(near) ?? [];
  const scale = SCALES[scaleWord.toLowerCase()];
  const tail = (scale === undefined ? near : near.slice(scaleWord.length)).trim();
  const isShort =
    behind.length < 60 && tail.split(/\s/).length <= 3 && !/\d/.test(tail.replace(/\^\{?\d/, ''));
  return { scale: scale ?? 0n, unit: unitAtStart(tail), isShort };
}

function unitAtStart(text: string): Unit | null {
  const words = text.split(/\s/, 3);
  const [first = ''] = words;
  const whole = readUnit(text.replace(/[.,;!]$/, '')) ?? readUnit(words.slice(0, 2).join(' '));
  if (whole !== null) return whole;
  // Short units can also be ordinary words, as in `5 in total`.
  const isLast = words.length === 1 || /[.,;!]$/.test(first);
  return /^[a-z]{1,2}$/i.test(first) && !isLast ? null : readUnit(first.replace(/[.,;!]$/, ''));
}

const CONVERTED = 1e-9;

/** @param tolerance relative to the right quantity */
function isSameQuantity(right: Quantity, answer: Quantity, tolerance = 0): boolean {
  return comparableAs(right.unit, answer.unit).some((way) =>
    way === 'written'
      ? isSameNumber(right.number, answer.number, tolerance)
      : isSameConverted(right, answer, tolerance),
  );
}

function isSameConverted(right: Quantity, answer: Quantity, tolerance: number): boolean {
  if (isZero(right.number)) return isZero(answer.number);
  return isNear(inFirstUnit(right), inFirstUnit(answer), Math.max(CONVERTED, tolerance));
}

function inFirstUnit({ number, unit }: Quantity): number {
  return toDouble(number) * (unit?.factor ?? 1);
}
