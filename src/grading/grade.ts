import { gradeCode } from './code/grade-code';
import { type Graded, gradeByRule, type RuleAnswer } from './grade-by-rule';
import { engineVersion, INSTALL_COMPUTE_ENGINE } from './mathematics/engine';
import { gradeMathematics } from './mathematics/grade-mathematics';
import { mathVerifyProblem } from './mathematics/math-verify';
import { BUBBLEWRAP } from './sandbox/bubblewrap';
import { openSandbox } from './sandbox/open-sandbox';
import { SandboxError } from './sandbox/sandbox';
import { seenAmong } from './sandbox/shown-folders';
import { type Grade, gradeOf } from './verdict';

export type { Grade, Verdict } from './verdict';

/** What a grader must know of a question. */
export type RightAnswer = RuleAnswer | Graded<'math'> | Graded<'code'> | Graded<'custom'>;

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
    case 'code':
      return gradeCode(question, reply);
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

/**
 * Checks that this machine can judge such questions; returns what is missing and how to get it, or null.
 *
 * @param secrets files and folders that no program may see: those with right answers
 */
export async function graderProblem(
  questions: readonly Pick<RightAnswer, 'grader'>[],
  secrets: readonly string[] = [],
): Promise<string | null> {
  const graders = new Set(questions.map(({ grader }) => grader));
  const problems = [
    graders.has('math') ? await mathematicsProblem() : null,
    graders.has('code') ? await sandboxProblem(secrets) : null,
  ].filter((problem) => problem !== null);
  return problems.length === 0 ? null : problems.join('\n');
}

async function mathematicsProblem(): Promise<string | null> {
  if (engineVersion() !== null) return null;
  const problem = await mathVerifyProblem();
  if (problem === null) return null;
  return `mathematics cannot be judged: run "${INSTALL_COMPUTE_ENGINE}" where the worker is installed (${problem})`;
}

async function sandboxProblem(secrets: readonly string[]): Promise<string | null> {
  try {
    const { name } = await openSandbox();
    const [seen] = name === BUBBLEWRAP ? seenAmong(secrets) : [];
    return seen === undefined ? null : `programs would see ${seen} in the sandbox: move it out of /usr`;
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return `code cannot be judged: ${error.message}`;
  }
}
