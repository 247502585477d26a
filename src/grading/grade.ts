import { readChoice, readLetter } from './choice';
import { isSameNumber, readNumber } from './number';
import type { Question } from './question';
import { answerTextOf, normalizeText } from './text';

/** What became of a rollout. `ungraded`: it could not be judged; it counts neither for nor against its group. */
export type Verdict = 'correct' | 'wrong' | 'unparseable' | 'ungraded';

/** What a grader says of an answer. `ungraded`: the right answer itself cannot be read, so it is unknown. */
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
    case 'exact': {
      const expected = normalizeText(question.answer, question.caseSensitive);
      return expected === ''
        ? 'ungraded'
        : gradeOf(normalizeText(answer, question.caseSensitive) === expected);
    }
    case 'number': {
      const expected = readNumber(question.answer);
      if (expected === null) return 'ungraded';
      const found = readNumber(answer);
      return gradeOf(found !== null && isSameNumber(expected, found, question.tolerance));
    }
    case 'choice': {
      const expected = readLetter(question.answer);
      return expected === null ? 'ungraded' : gradeOf(readChoice(answer, question.options) === expected);
    }
  }
}

function gradeOf(isRight: boolean): Grade {
  return isRight ? 'correct' : 'wrong';
}
