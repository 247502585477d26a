import { MAX_QUESTION_BYTES } from '../protocol/solve';

/** Thrown for a question that no run can be made of, before anything is started. */
export class BadQuestionError extends Error {
  override readonly name = 'BadQuestionError';
}

/**
 * Refuses a question before anything is started for it.
 *
 * @throws BadQuestionError for a question that is empty or over 1 MiB
 */
export function checkQuestion(question: string): void {
  if (question.trim() === '')
    throw new BadQuestionError('the question is empty: give one with at least a word');
  const bytes = Buffer.byteLength(question);
  if (bytes <= MAX_QUESTION_BYTES) return;
  throw new BadQuestionError(
    `the question has ${bytes} bytes; at most ${MAX_QUESTION_BYTES} are accepted: shorten it, or give the part that matters`,
  );
}
