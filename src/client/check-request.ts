import { ConductorError } from '../protocol/errors';
import { isDepth, isHint, MAX_HINT_CHARACTERS } from '../protocol/messages';
import { MAX_QUESTION_BYTES } from '../protocol/solve';

/** Thrown for a question that no run can be made of, before anything is started. */
export class BadQuestionError extends ConductorError {
  override readonly name = 'BadQuestionError';
  readonly code = 'BadQuestion';
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

// Nobody answers a signal: what a run would pass over without a word is refused before it is sent.

/** @throws RefusedError unless it is a whole number from 0, or null for no limit */
export function checkDepth(depth: number | null): void {
  if (isDepth(depth)) return;
  throw new RefusedError(
    `the depth is ${String(depth)}: it must be a whole number from 0, or null for no limit`,
  );
}

/** @throws RefusedError for a hint without a word, or longer than a page */
export function checkHint(hint: string): void {
  const { length } = hint;
  if (isHint(hint)) return;
  throw new RefusedError(
    `the hint has ${length} characters: it must be a text of 1 to ${MAX_HINT_CHARACTERS} characters`,
  );
}

/** Thrown where a run does not do what it was asked to: its message is the run's own sentence, and nothing was changed. */
export class RefusedError extends ConductorError {
  override readonly name = 'RefusedError';
  readonly code = 'Refused';
}
