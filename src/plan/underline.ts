/** A position in a text that a person or a model wrote. */
export interface Place {
  readonly text: string;
  /** Index of a UTF-16 code unit; the text's length stands for its end. */
  readonly at: number;
}

const BEFORE = 60;
const AFTER = 40;

/** The line around a place, clipped to a readable window, and under it a caret that points at the place. */
export function underline({ text, at }: Place): string {
  const lineStart = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
  const nextLine = text.indexOf('\n', at);
  const lineEnd = nextLine === -1 ? text.length : nextLine;
  const from = Math.max(lineStart, at - BEFORE);
  const to = Math.min(lineEnd, at + AFTER);
  const before = (from > lineStart ? '…' : '') + printable(text.slice(from, at));
  const after = printable(text.slice(at, to)) + (to < lineEnd ? '…' : '');
  return `  ${before}${after}\n  ${' '.repeat(Array.from(before).length)}^`;
}

/** Control characters, tabs and lone surrogates would move the caret or break a message: each becomes a dot. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '·');
}
