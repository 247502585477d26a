import { BARE_ENTRY, BULLET, isSpace, LABEL_AHEAD, NUMBERED_ESCAPE, ReplyReader, Unreadable } from './reader';

/** Value as Python, JSON and careless models write it, with the index where it begins. */
export type Literal =
  | { readonly kind: 'text'; readonly at: number; readonly text: string }
  | { readonly kind: 'list'; readonly at: number; readonly items: readonly Literal[] }
  | { readonly kind: 'fields'; readonly at: number; readonly fields: ReadonlyMap<string, Literal> };

/** Deepest nesting in a plan: the steps, a step's fields, the list of what it sees, one index in brackets. */
const MAX_DEPTH = 4;

/** Reads one value. Anything without quotes or brackets (`0`, `all`, even a bare subtask) is a text. */
export function readLiteral(reader: ReplyReader, depth = 0): Literal {
  const at = reader.at;
  const opener = reader.peek();
  if (depth === MAX_DEPTH && (opener === '[' || opener === '{')) {
    const problem = `Brackets are nested more than ${MAX_DEPTH} deep here. Write flat lists.`;
    throw new Unreadable('nested_too_deep', problem, at);
  }
  if (opener === '[') {
    const items: Literal[] = [];
    readEntries(reader, ']', () => items.push(readLiteral(reader, depth + 1)));
    return { kind: 'list', at, items };
  }
  if (opener === '{') {
    const fields = new Map<string, Literal>();
    readEntries(reader, '}', () => fields.set(readKey(reader), readLiteral(reader, depth + 1)));
    return { kind: 'fields', at, fields };
  }
  const text = startsQuote(opener) ? readQuoted(reader) : readWord(reader, ',]}[{`\n');
  return { kind: 'text', at, text };
}

/**
 * Reads `[…]` or `{…}` in JSON, JavaScript or Python. Accepts missing, doubled and trailing commas, since the lengths
 * of the lists are compared later.
 */
function readEntries(reader: ReplyReader, closer: ']' | '}', readEntry: () => void): void {
  const at = reader.at;
  reader.advance();
  for (;;) {
    reader.skipBlank();
    const next = reader.peek();
    if (next === '' || (closer === ']' && reader.stands(LABEL_AHEAD))) {
      const cause = next === '' ? 'the reply ends' : 'another list begins';
      const problem = `The list is cut off: ${cause} before this bracket is closed.`;
      throw new Unreadable('unclosed_list', problem, at);
    }
    if (next === closer) {
      reader.advance();
      return;
    }
    if (next === ',') reader.advance();
    else readEntry();
  }
}

function readKey(reader: ReplyReader): string {
  const at = reader.at;
  const key = startsQuote(reader.peek()) ? readQuoted(reader, true) : readWord(reader, ':=,]}\n');
  reader.skipBlank();
  if (!':='.includes(reader.peek() || ' ')) {
    const problem =
      'A step is written as {"worker": …, "subtask": …, "sees": …}; here a name and a colon are missing.';
    throw new Unreadable('bad_shape', problem, at);
  }
  reader.advance();
  reader.skipBlank();
  return key.toLowerCase();
}

function readWord(reader: ReplyReader, stops: string): string {
  const start = reader.at;
  reader.advance();
  reader.skip((next) => !stops.includes(next) && !(isSpace(reader.peek(-1)) && reader.startsComment()));
  return reader.text.slice(start, reader.at).trim();
}

/** Closing quotes for each opening quote. A straight quote is closed only by itself. */
const CLOSERS: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '“': '”“"',
  '”': '”“"',
  '„': '”“"',
  '‘': "’‘'",
  '’': "’‘'",
};

function startsQuote(character: string): boolean {
  return Object.hasOwn(CLOSERS, character);
}

/**
 * Reads a quotation and decodes its escapes. Models forget to escape apostrophes ('Find the user's name'), so a quote
 * closes only if an entry can end there: before a bracket, a comment, or a comma that another entry follows.
 */
function readQuoted(reader: ReplyReader, isKey = false): string {
  const opened = reader.at;
  const quote = reader.peek();
  const closers = CLOSERS[quote] ?? quote;
  const width = isTripled(reader, quote) ? 3 : 1;
  reader.advance(width);
  const parts: string[] = [];
  let kept = reader.at;
  for (;;) {
    const next = reader.peek();
    if (next === '') {
      const problem = 'The list is cut off: the reply ends inside the quoted text that begins here.';
      throw new Unreadable('unclosed_list', problem, opened);
    }
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

function isTripled(reader: ReplyReader, quote: string): boolean {
  return `"'`.includes(quote) && reader.peek(1) === quote && reader.peek(2) === quote;
}

/**
 * Escapes of single characters. `\b` and `\f` are left as they are: no subtask needs a form feed, but many contain an
 * unescaped `\beta` or `\frac`. Any other unknown escape is kept, as Python does.
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

function readEscape(reader: ReplyReader): string {
  reader.advance();
  const digits = reader.take(NUMBERED_ESCAPE);
  if (digits !== null) {
    const [written, ...groups] = digits;
    const code = Number.parseInt(groups.find(Boolean) ?? '', 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : `\\${written}`;
  }
  const known = ESCAPES[reader.peek()];
  if (known === undefined) return '\\';
  reader.advance();
  return known;
}

/** Whether an entry can end after the quote at the current position. Scans only white space, so in linear time. */
function endsEntry(reader: ReplyReader, isKey: boolean): boolean {
  const after = pastSpace(reader, 1);
  const next = reader.peek(after);
  if (isKey) return next !== '' && ':,}]'.includes(next);
  if (next === ',') return startsEntry(reader, pastSpace(reader, after + 1));
  if (isEnd(reader, after)) return true;
  // Two quotations on separate lines are two entries with a missing comma.
  return startsQuote(next) && reader.text.slice(reader.at, reader.at + after).includes('\n');
}

function isEnd(reader: ReplyReader, ahead: number): boolean {
  const next = reader.peek(ahead);
  return next === '' || ']}`'.includes(next) || reader.startsComment(ahead);
}

function startsEntry(reader: ReplyReader, ahead: number): boolean {
  const next = reader.peek(ahead);
  return isEnd(reader, ahead) || startsQuote(next) || '[{'.includes(next) || reader.stands(BARE_ENTRY, ahead);
}

function pastSpace(reader: ReplyReader, ahead: number): number {
  let past = ahead;
  while (isSpace(reader.peek(past))) past += 1;
  return past;
}

/** Reads a bulleted or numbered list with one entry per line; null if there is none. */
export function readBullets(reader: ReplyReader): Literal | null {
  const at = reader.at;
  const items: Literal[] = [];
  while (reader.take(BULLET) !== null && !reader.stands(LABEL_AHEAD)) {
    items.push(readLine(reader));
    reader.skip(isSpace);
  }
  return items.length === 0 ? null : { kind: 'list', at, items };
}

/** Reads the rest of the line: a quoted or bracketed value if there is nothing else, otherwise plain text. */
function readLine(reader: ReplyReader): Literal {
  const at = reader.at;
  reader.skip((character) => character !== '\n');
  const plain: Literal = { kind: 'text', at, text: reader.text.slice(at, reader.at).trim() };
  const line = new ReplyReader(reader.text, at, reader.at);
  try {
    const value = readLiteral(line);
    line.skip(isSpace);
    return line.peek() === '' ? value : plain;
  } catch (error) {
    if (error instanceof Unreadable) return plain;
    throw error;
  }
}
