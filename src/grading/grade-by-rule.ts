import { gradeFreeForm } from './free-form';
import type { Question } from './question';
import { answerTextOf, normalizeText } from './read-answer';
import { readChoice, readRightChoice } from './read-choice';
import { isSameNumber, readFinalNumber, readNumber } from './read-number';
import { type Grade, gradeOf, shown } from './verdict';

export type Graded<Grader extends Question['grader']> = Omit<
  Extract<Question, { readonly grader: Grader }>,
  'id' | 'question' | 'topic' | 'level' | 'source' | 'date'
>;

/** Right answers of these graders. */
export type RuleAnswer = Graded<'exact'> | Graded<'number'> | Graded<'choice'> | Graded<'freeform'>;

/** Tells right from wrong by rules alone, the same way each time, in time that is linear in the reply. */
export function gradeByRule(question: RuleAnswer, reply: string): Grade {
  switch (question.grader) {
    case 'exact':
      return gradeExact(question, answerTextOf(reply));
    case 'number':
      return gradeNumber(question, reply);
    case 'choice':
      return gradeChoice(question, reply);
    case 'freeform':
      return gradeFreeForm(question.answer, reply);
  }
}

function gradeExact({ answer: right, caseSensitive }: Graded<'exact'>, answer: string): Grade {
  const say = gradeOf.bind(null, 'exact/1');
  const wanted = normalizeText(right, caseSensitive);
  if (wanted === '') return say('ungraded', null, 'the right answer is no text');
  const isRight = normalizeText(answer, caseSensitive) === wanted;
  return isRight
    ? say('correct', answer, 'it is the same text')
    : say('wrong', answer, `it is another text than ${shown(right)}`);
}

function gradeNumber({ answer: right, tolerance }: Graded<'number'>, reply: string): Grade {
  const say = gradeOf.bind(null, 'number/2');
  const wanted = readNumber(right);
  if (wanted === null) return say('ungraded', null, `the right answer ${shown(right)} is no number`);
  const found = readFinalNumber(reply);
  if (found === null) return say('unparseable', null, 'it holds no number');
  return isSameNumber(wanted, found, tolerance)
    ? say('correct', found.text, 'it is the same number')
    : say('wrong', found.text, `it is another number than ${shown(right)}`);
}

function gradeChoice({ answer: right, options }: Graded<'choice'>, reply: string): Grade {
  const say = gradeOf.bind(null, 'choice/2');
  const wanted = readRightChoice(right, options);
  if (wanted === null) return say('ungraded', null, `the right answer ${shown(right)} is no option`);
  const found = readChoice(reply, options);
  if (found.letter === null) return say('unparseable', null, found.reason);
  return found.letter === wanted
    ? say('correct', found.letter, 'it is the right option')
    : say('wrong', found.letter, `the right option is ${wanted}`);
}
