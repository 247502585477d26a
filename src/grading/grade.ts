import type { Question } from './question';
import { answerTextOf, isSameNumber, normalizeText, readChoice, readLetter, readNumber } from './read-answer';

/** Of a rollout. `ungraded`: it could not be judged, and counts neither for nor against its group. */
export type Verdict = 'correct' | 'wrong' | 'unparseable' | 'ungraded';

/** A grader's verdict. `ungraded`: the right answer itself cannot be read. */
export type Grade = Exclude<Verdict, 'unparseable'>;

type Graded<Grader extends Question['grader']> = Omit<
  Extract<Question, { readonly grader: Grader }>,
  'id' | 'question' | 'topic'
>;

/** What a grader must know of a question. */
export type RightAnswer = Graded<'exact'> | Graded<'number'> | Graded<'choice'>;

/**
 * Tells right from wrong, by rules alone and the same way each time.
 *
 * Graded is what stands in the last `<answer>` tag of the reply, else the whole reply. An answer that settles on nothing
 * (no number, no letter, two of them) is wrong.
 *
 * @example
 * grade({ grader: 'number', answer: '0.75' }, 'It must be <answer>3/4</answer>.'); // 'correct'
 */
export function grade(question: RightAnswer, reply: string): Grade {
  const isRight = judge(question, answerTextOf(reply));
  if (isRight === null) return 'ungraded';
  return isRight ? 'correct' : 'wrong';
}

/** null where the right answer cannot be read. */
function judge(question: RightAnswer, answer: string): boolean | null {
  switch (question.grader) {
    case 'exact': {
      const right = normalizeText(question.answer, question.caseSensitive);
      return right === '' ? null : normalizeText(answer, question.caseSensitive) === right;
    }
    case 'number': {
      const right = readNumber(question.answer);
      const found = readNumber(answer);
      return right === null ? null : found !== null && isSameNumber(right, found, question.tolerance);
    }
    case 'choice': {
      const right = readLetter(question.answer);
      return right === null ? null : readChoice(answer, question.options) === right;
    }
  }
}
