import { utf8Bytes } from '../plan/plan';

/** Returns what a model is told of a value that a tool returned: JSON or a text, of at most so many bytes. */
export function resultText(returned: unknown, mostBytes: number): string {
  const text = typeof returned === 'string' ? returned : jsonOf(returned);
  // Half of a surrogate pair could not be stored.
  return text === '' ? EMPTY : cutTo(text.replace(/\p{Surrogate}/gu, '\uFFFD'), mostBytes);
}

const EMPTY = '(the result is empty)';

function jsonOf(value: unknown): string {
  try {
    return value === undefined ? '' : JSON.stringify(value);
  } catch {
    // Writing it calls itself once a level, reading it does not.
    return '(structured content that is nested too deep to be shown)';
  }
}

/** Cuts a text between two characters, and says so. */
function cutTo(text: string, mostBytes: number): string {
  const bytes = utf8Bytes(text);
  if (bytes <= mostBytes) return text;
  const note = `\n[cut: the result has ${bytes} bytes, and at most ${mostBytes} are shown]`;
  const room = new Uint8Array(Math.max(0, mostBytes - utf8Bytes(note)));
  const { read } = new TextEncoder().encodeInto(text, room);
  return text.slice(0, read) + note;
}
