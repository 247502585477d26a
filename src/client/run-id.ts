import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { SUFFIXES_OF_ID } from '../protocol/names';

// Workflow ids that people can read and type, far below Temporal's 1,000 bytes, since ids of children begin with them.

const WORDS_LENGTH = 40;

/** Crockford's base 32. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';

/** `solve-what-is-the-capital-7kq2m9xw`; without words if the client has a codec, which does not encrypt ids. */
export function newRunId(question: string, { options }: Pick<Client, 'options'>): string {
  const words = options.loadedDataConverter.payloadCodecs.length > 0 ? '' : wordsOf(question);
  return words === '' ? `solve-${randomPart(12)}` : `solve-${words}-${randomPart(8)}`;
}

/** Returns the id of a run that continues another one; retries of retries do not make it longer. */
export function newRetryId(id: string): string {
  return `${id.replace(/-retry-[0-9a-z]{1,8}$/, '').slice(0, 200)}-retry-${randomPart(6)}`;
}

/** Returns whether a person may have meant this id by its beginning, which must not be another run's whole id. */
export function abbreviates(beginning: string, id: string): boolean {
  return id === beginning || (id.startsWith(beginning) && !SUFFIXES_OF_ID.test(id.slice(beginning.length)));
}

export function newEvaluationId(): string {
  return `eval-${randomPart(8)}`;
}

function wordsOf(question: string): string {
  // Bounds the work; the words come from the start of the question.
  const start = question.slice(0, 1000).normalize('NFKD').toLowerCase().replace(/['’]/g, '');
  const words = (start.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])
    .map((word) => word.replace(/[^0-9a-z]/g, ''))
    .filter((word) => word !== '');
  let joined = (words[0] ?? '').slice(0, WORDS_LENGTH);
  for (const word of words.slice(1)) {
    if (joined.length + 1 + word.length > WORDS_LENGTH) break;
    joined = `${joined}-${word}`;
  }
  return joined;
}

/** Returns `length` random letters and digits that an id may contain. */
export function randomPart(length: number): string {
  return [...randomBytes(length)].map((byte) => LETTERS.charAt(byte % LETTERS.length)).join('');
}
