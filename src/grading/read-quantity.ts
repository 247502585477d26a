import { isZero, negative } from './rational';
import { isNear, isSameNumber, type ReadNumber, readNumber } from './read-number';
import { readUnit, type Unit } from './units';

/** A number and what it counts. */
export interface Quantity extends ReadNumber {
  /** Null if there is none that we know. */
  readonly unit: Unit | null;
  /** Whether the text consists of it: `about 5 km away` does not. */
  readonly isAll: boolean;
}

const WORDS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
/** The powers of ten that they stand for. */
const SCALES: Readonly<Record<string, number>> = {
  thousand: 3,
  million: 6,
  billion: 9,
  trillion: 12,
};
const CURRENCY = /(us\$|[$€£¥₹]|\b(?:usd|eur|gbp|jpy|inr))\s?$/i;

/** The last number in a text with its unit, per cent sign or currency; null where there is none. */
export function readQuantity(text: string): Quantity | null {
  const word = WORDS.indexOf(text.trim().toLowerCase());
  const inDigits = word === -1 ? text : String(word);
  // Squares and cubes belong to the unit.
  const plain = inDigits.replace(/\\([%$])/g, '$1').replace(/([a-z])\^\{?([23])\}?/gi, (_, unit, power) => {
    return `${String(unit)}${power === '2' ? '²' : '³'}`;
  });
  const found = readNumber(plain);
  if (found === null) return null;
  const before = found.before.slice(-20).trimEnd();
  const signed = before.replace(/-$/, '');
  const currency = CURRENCY.exec(signed)?.[1];
  const { scale, unit, rest } = readBehind(found.behind);
  // The sign of `-$5`: a number does not reach over a currency.
  const isNegative = currency !== undefined && before.slice(0, -currency.length).trimEnd().endsWith('-');
  return {
    ...scaled(found, scale, isNegative),
    unit: currency === undefined ? unit : readUnit(currency),
    isAll: found.before.trim().replace(CURRENCY, '').replace(/-$/, '') === '' && rest,
  };
}

function scaled({ value, exact }: ReadNumber, tens: number, isNegative: boolean): ReadNumber {
  const number = { ...exact, ten: exact.ten + BigInt(tens) };
  const size = value * 10 ** tens;
  return isNegative ? { value: -size, exact: negative(number) } : { value: size, exact: number };
}

/** Reads a word for the size and a unit behind a number; `rest`: whether that is all, but for two words. */
function readBehind(behind: string): { scale: number; unit: Unit | null; rest: boolean } {
  const near = behind.slice(0, 60).trim();
  const [scaleWord = ''] = /^[a-z]{1,9}\b/i.exec(near) ?? [];
  const scale = SCALES[scaleWord.toLowerCase()];
  const tail = (scale === undefined ? near : near.slice(scaleWord.length)).trim();
  const unit = unitAtStart(tail);
  const isShort =
    behind.length < 60 && tail.split(/\s/).length <= 3 && !/\d/.test(tail.replace(/\^\{?\d/, ''));
  return { scale: scale ?? 0, unit, rest: isShort };
}

function unitAtStart(text: string): Unit | null {
  const words = text.split(/\s/, 3);
  const [first = ''] = words;
  const whole = readUnit(text.replace(/[.,;!]$/, '')) ?? readUnit(words.slice(0, 2).join(' '));
  if (whole !== null) return whole;
  // Short ones are words as well: `5 in total`.
  const isLast = words.length === 1 || /[.,;!]$/.test(first);
  return /^[a-z]{1,2}$/i.test(first) && !isLast ? null : readUnit(first.replace(/[.,;!]$/, ''));
}

/** The error of a conversion. */
const CONVERTED = 1e-9;

/**
 * Whether two quantities are the same. A unit that one of them leaves out is taken for the other's; a share may be written
 * as a number, and an angle in radians.
 */
export function isSameQuantity(right: Quantity, answer: Quantity): boolean {
  const [wanted, given] = [right.unit, answer.unit];
  if (wanted !== null && given !== null) {
    if (wanted.dimension !== given.dimension) return false;
    return wanted.factor === given.factor ? isSameNumber(right, answer) : isSameConverted(right, answer);
  }
  const { dimension = '' } = wanted ?? given ?? {};
  if (isSameNumber(right, answer)) return true;
  return ['share', 'angle'].includes(dimension) && isSameConverted(right, answer);
}

function isSameConverted(right: Quantity, answer: Quantity): boolean {
  if (isZero(right.exact)) return isZero(answer.exact);
  return isNear(inFirstUnit(right), inFirstUnit(answer), CONVERTED);
}

function inFirstUnit({ value, unit }: Quantity): number {
  return value * (unit?.factor ?? 1);
}
