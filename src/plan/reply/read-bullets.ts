import { BULLET, LABEL_AHEAD } from './patterns';
import { readLiteral, type Literal } from './read-literal';
import { isSpace, Reader } from './reader';
import { Unreadable } from './unreadable';

/** Reads a list whose entries stand on lines of their own, bulleted or numbered; null where there is none. */
export function readBullets(reader: Reader): Literal | null {
  const at = reader.at;
  const items: Literal[] = [];
  while (reader.take(BULLET) !== null && !reader.stands(LABEL_AHEAD)) {
    items.push(readLine(reader));
    reader.skip(isSpace);
  }
  return items.length === 0 ? null : { kind: 'list', at, items };
}

/** The rest of the line: a quoted or bracketed value if it is nothing else, and its plain text otherwise. */
function readLine(reader: Reader): Literal {
  const at = reader.at;
  reader.skip((character) => character !== '\n');
  const plain: Literal = { kind: 'text', at, text: reader.text.slice(at, reader.at).trim() };
  const line = new Reader(reader.text, at, reader.at);
  try {
    const value = readLiteral(line);
    line.skip(isSpace);
    return line.peek() === '' ? value : plain;
  } catch (error) {
    if (error instanceof Unreadable) return plain;
    throw error;
  }
}
