import type { Question } from './question';
import type { Verdict } from '../training/rollout';
import { readChoice, readLetter } from './choice';
import { isSameNumber, readNumber } from './number';
import { answerTextOf, normalizeText } from './text';

/** What a grader says of an answer. `ungraded`: the right answer itself cannot be read, so nobody can tell. */
export type Grade = Exclude<Verdict, 'unparseable'>;

/** How a question of one grader is judged. */
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
  const answer = answerTextOf(reply);
  switch (question.grader) {
    case 'exact':
      return gradeExact(question, answer);
    case 'number':
      return gradeNumber(question, answer);
    case 'choice':
      return gradeChoice(question, answer);
  }
}

function gradeExact({ answer: right, caseSensitive }: Graded<'exact'>, answer: string): Grade {
  const expected = normalizeText(right, caseSensitive);
  return expected === '' ? 'ungraded' : verdict(normalizeText(answer, caseSensitive) === expected);
}

function gradeNumber({ answer: right, tolerance }: Graded<'number'>, answer: string): Grade {
  const expected = readNumber(right);
  if (expected === null) return 'ungraded';
  const found = readNumber(answer);
  return verdict(found !== null && isSameNumber(expected, found, tolerance));
}

function gradeChoice({ answer: right, options }: Graded<'choice'>, answer: string): Grade {
  const expected = readLetter(right);
  return expected === null ? 'ungraded' : verdict(readChoice(answer, options) === expected);
}

function verdict(isRight: boolean): Grade {
  return isRight ? 'correct' : 'wrong';
}
