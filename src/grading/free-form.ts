import { finalAnswerOf, normalizeText, shortenBlanks } from './read-answer';
import { isSameQuantity, readQuantity } from './read-quantity';
import { type Grade, gradeOf, shown } from './verdict';

const VERSION = 'freeform/2';

/** Longer ones list nothing. */
const MOST_CHARACTERS = 10_000;
const MOST_ITEMS = 100;

/**
 * Judges free text by rule: a number with its unit, per cent sign or currency, a list in any order, or else the same text
 * but for case, blanks, typesetting and an article before it.
 */
export function gradeFreeForm(right: string, reply: string): Grade {
  const answer = finalAnswerOf(reply);
  const text = plain(answer);
  if (text === '') return gradeOf(VERSION, 'unparseable', null, 'there is no answer');
  if (text === plain(right)) return gradeOf(VERSION, 'correct', answer, 'it is the same text');
  const items = itemsOf(right);
  return items.length > 1 ? gradeList(items, answer) : gradeOne(right, answer);
}

/** Whether there is anything that an answer could be compared with. */
export function isFreeForm(right: string): boolean {
  return plain(right) !== '' && right.length <= MOST_CHARACTERS;
}

function gradeOne(right: string, answer: string): Grade {
  const wanted = readQuantity(right);
  if (wanted?.isAll !== true)
    return gradeOf(VERSION, 'wrong', answer, `it is another text than ${shown(right)}`);
  const found = readQuantity(answer);
  if (found === null) return gradeOf(VERSION, 'unparseable', null, 'it holds no number');
  return isSameQuantity(wanted, found)
    ? gradeOf(VERSION, 'correct', answer, 'it is the same quantity')
    : gradeOf(VERSION, 'wrong', answer, `it is another quantity than ${shown(right)}`);
}

function gradeList(right: readonly string[], answer: string): Grade {
  const left = itemsOf(answer);
  if (left.length !== right.length) {
    const reason = `${right.length} items are right, and it has ${left.length}`;
    return gradeOf(VERSION, 'wrong', answer, reason);
  }
  for (const item of right) {
    const at = left.findIndex((each) => isSameItem(item, each));
    if (at === -1) return gradeOf(VERSION, 'wrong', answer, `it lacks ${shown(item)}`);
    left.splice(at, 1);
  }
  return gradeOf(VERSION, 'correct', answer, 'it has the same items');
}

function isSameItem(right: string, answer: string): boolean {
  if (plain(right) === plain(answer)) return true;
  const [wanted, found] = [readQuantity(right), readQuantity(answer)];
  return wanted?.isAll === true && found?.isAll === true && isSameQuantity(wanted, found);
}

/** Where a list is divided; a comma before three digits sets thousands apart. */
const BETWEEN = /[;\n]|,(?!\d{3}(?!\d))|\s(?:and|&)\s/;

function itemsOf(text: string): string[] {
  if (text.length > MOST_CHARACTERS) return [text];
  const open = shortenBlanks(text)
    .trim()
    .replace(/^(?:\\?[{[(])/, '')
    .replace(/(?:\\?[}\])])\.?$/, '');
  const items = open
    .split(BETWEEN)
    .map((item) => item.trim().replace(/^(?:[-*•]|\d{1,2}[.)]|and)\s{1,2}/, ''));
  const filled = items.filter((item) => item !== '');
  return filled.length > MOST_ITEMS ? [text] : filled;
}

function plain(text: string): string {
  return normalizeText(text).replace(/^(?:the|an?)\s/, '');
}
