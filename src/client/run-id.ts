import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';

// Workflow ids that people can read and type, far below Temporal's 1,000 bytes, since ids of children begin with them.

const WORDS_LENGTH = 40;

/** Crockford's base 32. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';

/** `solve-what-is-the-capital-7kq2m9xw`; without words where the client has a codec, which does not encrypt ids. */
export function newRunId(question: string, { options }: Pick<Client, 'options'>): string {
  const words = options.loadedDataConverter.payloadCodecs.length > 0 ? '' : wordsOf(question);
  return words === '' ? `solve-${randomPart(12)}` : `solve-${words}-${randomPart(8)}`;
}

/** The id of a run that goes on from another one; a retry of a retry is no longer than the first. */
export function newRetryId(id: string): string {
  return `${id.replace(/-retry-[0-9a-z]{1,8}$/, '').slice(0, 200)}-retry-${randomPart(6)}`;
}

export function newEvaluationId(): string {
  return `eval-${randomPart(8)}`;
}

function wordsOf(question: string): string {
  // Longer than any start of a question whose words still fit.
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

/** So many random letters and digits, all of which an id may hold. */
export function randomPart(length: number): string {
  return [...randomBytes(length)].map((byte) => LETTERS.charAt(byte % LETTERS.length)).join('');
}
