import { type Graded, gradeByRule, type RuleAnswer } from './grade-by-rule';
import { engineVersion, INSTALL_COMPUTE_ENGINE } from './mathematics/engine';
import { gradeMathematics } from './mathematics/grade-mathematics';
import { mathVerifyProblem } from './mathematics/math-verify';
import { type Grade, gradeOf } from './verdict';

export type { Grade, Verdict } from './verdict';

/** What a grader must know of a question. */
export type RightAnswer = RuleAnswer | Graded<'math'> | Graded<'custom'>;

/**
 * Judges an answer, by the rules of its question's grader. It never throws: where a grader fails, or takes too long, the
 * answer is `ungraded`.
 *
 * Graded is what stands in the last `<answer>` tag of the reply, else the whole reply.
 *
 * @example
 * await grade({ grader: 'math', answer: '\\frac{3}{4}' }, 'It must be <answer>0.75</answer>.'); // verdict: 'correct'
 */
export async function grade(question: RightAnswer, reply: string): Promise<Grade> {
  switch (question.grader) {
    case 'math':
      return gradeMathematics(question.answer, reply);
    case 'custom':
      return gradeOf(
        'custom',
        'ungraded',
        null,
        `the activity ${question.activity} judges it, in a training night`,
      );
    default:
      return gradeByRule(question, reply);
  }
}

/** What is missing here to judge such questions at all, with what to do; null where nothing is. */
export async function graderProblem(
  questions: readonly Pick<RightAnswer, 'grader'>[],
): Promise<string | null> {
  if (!questions.some(({ grader }) => grader === 'math') || engineVersion() !== null) return null;
  const problem = await mathVerifyProblem();
  if (problem === null) return null;
  return `mathematics cannot be judged: run "${INSTALL_COMPUTE_ENGINE}" where the worker is installed (${problem})`;
}
