import { plainTextOf } from './answer-text';

/**
 * What is left of a text for comparison: without typesetting, quotation marks around it and a full stop at its end, each
 * run of blanks one blank, and in lower case unless case counts.
 */
export function normalizeText(text: string, caseSensitive = false): string {
  const plain = plainTextOf(text)
    .normalize('NFC')
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\.$/, '')
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
  return caseSensitive ? plain : plain.toLowerCase();
}
