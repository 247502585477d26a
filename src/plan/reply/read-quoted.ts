import { BARE_ENTRY, NUMBERED_ESCAPE } from './patterns';
import { isSpace, type Reader } from './reader';
import { Unreadable } from './unreadable';

/** What may close a quotation, by what opened it. A straight quote is closed by its own kind alone. */
const CLOSERS: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '“': '”“"',
  '”': '”“"',
  '„': '”“"',
  '‘': "’‘'",
  '’': "’‘'",
};

/**
 * Escapes that stand for one character. `\b` and `\f` are left as they are: no subtask wants a form feed, but many
 * hold an unescaped `\beta` or `\frac`, and any other unknown escape is kept as Python keeps it.
 */
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '"': '"',
  "'": "'",
  '\\': '\\',
  '/': '/',
  '\n': '',
};

const UNCLOSED = 'The list is cut off: the reply ends inside the quoted text that begins here.';

/** Whether a quotation begins here. */
export function startsQuote(character: string): boolean {
  return Object.hasOwn(CLOSERS, character);
}

/**
 * Reads a quotation and decodes its escapes.
 *
 * Models forget to escape quotes and apostrophes ('Find the user's name'), so a quote closes only where an entry can
 * end: before a bracket, a comment, or a comma with another entry behind it.
 */
export function readQuoted(reader: Reader, isKey = false): string {
  const opened = reader.at;
  const quote = reader.peek();
  const closers = CLOSERS[quote] ?? quote;
  const width = isTripled(reader, quote) ? 3 : 1;
  reader.advance(width);
  const parts: string[] = [];
  let kept = reader.at;
  for (;;) {
    const next = reader.peek();
    if (next === '') throw new Unreadable('unclosed_list', UNCLOSED, opened);
    if (next === '\\') {
      parts.push(reader.text.slice(kept, reader.at), readEscape(reader));
      kept = reader.at;
    } else if (closers.includes(next) && (width === 3 ? isTripled(reader, next) : endsEntry(reader, isKey))) {
      parts.push(reader.text.slice(kept, reader.at));
      reader.advance(width);
      return parts.join('');
    } else reader.advance();
  }
}

function isTripled(reader: Reader, quote: string): boolean {
  return `"'`.includes(quote) && reader.peek(1) === quote && reader.peek(2) === quote;
}

function readEscape(reader: Reader): string {
  reader.advance();
  const digits = reader.take(NUMBERED_ESCAPE);
  if (digits !== null) return characterOf(digits);
  const known = ESCAPES[reader.peek()];
  if (known === undefined) return '\\';
  reader.advance();
  return known;
}

function characterOf([written, ...groups]: RegExpExecArray): string {
  const code = Number.parseInt(groups.find(Boolean) ?? '', 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : `\\${written}`;
}

/** Whether an entry can end behind the quote at the position. Looks over white space only, so in linear time. */
function endsEntry(reader: Reader, isKey: boolean): boolean {
  const after = pastSpace(reader, 1);
  const next = reader.peek(after);
  if (isKey) return next !== '' && ':,}]'.includes(next);
  if (next === ',') return startsEntry(reader, pastSpace(reader, after + 1));
  return isEnd(reader, after) || (startsQuote(next) && spansLines(reader, after));
}

function isEnd(reader: Reader, ahead: number): boolean {
  const next = reader.peek(ahead);
  return next === '' || ']}#`'.includes(next) || (next === '/' && reader.peek(ahead + 1) === '/');
}

function startsEntry(reader: Reader, ahead: number): boolean {
  const next = reader.peek(ahead);
  return isEnd(reader, ahead) || startsQuote(next) || '[{'.includes(next) || reader.stands(BARE_ENTRY, ahead);
}

/** Two quotations on two lines are two entries whose comma was forgotten. */
function spansLines(reader: Reader, ahead: number): boolean {
  return reader.text.slice(reader.at, reader.at + ahead).includes('\n');
}

function pastSpace(reader: Reader, ahead: number): number {
  let past = ahead;
  while (isSpace(reader.peek(past))) past += 1;
  return past;
}
