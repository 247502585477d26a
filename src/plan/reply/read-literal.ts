import { LABEL_AHEAD } from './patterns';
import { isSpace, skipBlank, startsComment, type Reader } from './reader';
import { readQuoted, startsQuote } from './read-quoted';
import { Unreadable } from './unreadable';

/** A value as Python, JSON and careless models write it, with the index where it begins. */
export type Literal =
  | { readonly kind: 'text'; readonly at: number; readonly text: string }
  | { readonly kind: 'list'; readonly at: number; readonly items: readonly Literal[] }
  | { readonly kind: 'fields'; readonly at: number; readonly fields: ReadonlyMap<string, Literal> };

/** Steps, the fields of a step, what it sees, one index of it: nothing in a plan nests deeper. */
const MAX_DEPTH = 4;

/** Reads one value. Anything without quotes or brackets (`0`, `all`, even a bare subtask) is a text. */
export function readLiteral(reader: Reader, depth = 0): Literal {
  const at = reader.at;
  const opener = reader.peek();
  if (opener === '[' || opener === '{') {
    if (depth === MAX_DEPTH) throw tooDeep(reader);
    return opener === '[' ? readList(reader, depth) : readFields(reader, depth);
  }
  const text = startsQuote(opener) ? readQuoted(reader) : readWord(reader, ',]}[{`\n');
  return { kind: 'text', at, text };
}

/** Reads `[…]`. Missing, doubled and trailing commas are forgiven, since the lengths are compared later. */
function readList(reader: Reader, depth: number): Literal {
  const at = reader.at;
  const items: Literal[] = [];
  reader.advance();
  for (;;) {
    skipBlank(reader);
    const next = reader.peek();
    if (next === '' || reader.stands(LABEL_AHEAD)) throw unclosed(reader, at);
    if (next === ']') {
      reader.advance();
      return { kind: 'list', at, items };
    }
    if (next === ',') reader.advance();
    else items.push(readLiteral(reader, depth + 1));
  }
}

/** Reads `{…}`: an object of JSON or JavaScript, or a dict of Python. */
function readFields(reader: Reader, depth: number): Literal {
  const at = reader.at;
  const fields = new Map<string, Literal>();
  reader.advance();
  for (;;) {
    skipBlank(reader);
    const next = reader.peek();
    if (next === '') throw unclosed(reader, at);
    if (next === '}') {
      reader.advance();
      return { kind: 'fields', at, fields };
    }
    if (next === ',') reader.advance();
    else {
      const key = readKey(reader);
      fields.set(key, readLiteral(reader, depth + 1));
    }
  }
}

function readKey(reader: Reader): string {
  const at = reader.at;
  const key = startsQuote(reader.peek()) ? readQuoted(reader, true) : readWord(reader, ':=,]}\n');
  skipBlank(reader);
  if (!':='.includes(reader.peek() || ' ')) {
    const problem =
      'A step is written as {"worker": …, "subtask": …, "sees": …}; here a name and a colon are missing.';
    throw new Unreadable('bad_shape', problem, at);
  }
  reader.advance();
  skipBlank(reader);
  return key.toLowerCase();
}

/** At least one character, then on to the first stop or comment. */
function readWord(reader: Reader, stops: string): string {
  const start = reader.at;
  reader.advance();
  reader.skip(
    (character) => !stops.includes(character) && !(isSpace(reader.peek(-1)) && startsComment(reader)),
  );
  return reader.text.slice(start, reader.at).trim();
}

function unclosed(reader: Reader, at: number): Unreadable {
  const problem = reader.peek() === '' ? 'the reply ends' : 'another list begins';
  return new Unreadable(
    'unclosed_list',
    `The list is cut off: ${problem} before this bracket is closed.`,
    at,
  );
}

function tooDeep({ at }: Reader): Unreadable {
  const problem = `Brackets are nested more than ${MAX_DEPTH} deep here. Write flat lists.`;
  return new Unreadable('nested_too_deep', problem, at);
}
