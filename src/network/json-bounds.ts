/** Most values of a JSON text from a caller: reading it by a schema takes time for each, even for a wrong one. */
export const MOST_VALUES = 20_000;
/** Most levels of nesting: code that walks a value calls itself once a level. */
export const MOST_LEVELS = 128;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** Brackets and braces, as bytes. */
const OPENING = [0x5b, 0x7b] as const;
const CLOSING = [0x5d, 0x7d] as const;

/**
 * Returns what a JSON text from a caller has too much of, or null. It is asked before the text is parsed, in one pass
 * over it: each list and object counts for as many values as it has, an empty one for one. Whether it is JSON at all is
 * for `JSON.parse` to say.
 */
export function findJsonExcess(json: string): string | null {
  let values = 0;
  let levels = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if (code === COMMA) values += 1;
    else if (code === CLOSING[0] || code === CLOSING[1]) levels -= 1;
    else if (code === OPENING[0] || code === OPENING[1]) {
      values += 1;
      levels += 1;
      if (levels > MOST_LEVELS) return `lists and objects nested more than ${MOST_LEVELS} deep`;
    }
    if (values > MOST_VALUES) return `more than ${MOST_VALUES} values`;
  }
  return null;
}

/** Returns the index of the quote that ends a string, or the end of the text. */
function endOfString(json: string, from: number): number {
  let at = from + 1;
  for (let code = json.charCodeAt(at); at < json.length && code !== QUOTE; code = json.charCodeAt(at)) {
    at += code === BACKSLASH ? 2 : 1;
  }
  return at;
}
