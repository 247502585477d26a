import { gradeCode } from './code/grade-code';
import { type Graded, gradeByRule, type RuleAnswer } from './grade-by-rule';
import { engineVersion, INSTALL_COMPUTE_ENGINE } from './mathematics/engine';
import { gradeMathematics } from './mathematics/grade-mathematics';
import { mathVerifyProblem } from './mathematics/math-verify';
import { BUBBLEWRAP, seenAmong } from './sandbox/bubblewrap';
import { openSandbox } from './sandbox/open-sandbox';
import { SandboxError } from './sandbox/sandbox';
import { type Grade, gradeOf, isClipped } from './verdict';

export type { Grade, Verdict } from './verdict';

/** Right answers of all graders. */
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

/** Comparisons of mathematics may take seconds each; whatever is left then counts by its text alone. */
const MAX_COMPARISON_MS = 5 * 60_000;

/**
 * The place of the first answer that the grader holds equal to each one; null where an answer settles on nothing.
 * Programs, and answers that only a person's own grader understands, are equal where their texts are.
 */
export async function groupSame(
  question: RightAnswer,
  grades: readonly Grade[],
): Promise<readonly (number | null)[]> {
  const end = Date.now() + MAX_COMPARISON_MS;
  const firsts: { readonly place: number; readonly grade: Grade }[] = [];
  const groups: (number | null)[] = [];
  for (const [place, each] of grades.entries()) {
    if (each.extracted === null) {
      groups.push(null);
      continue;
    }
    let group: number | null = null;
    for (const first of firsts) {
      if (await isSame(question, first.grade, each, end)) group = first.place;
      if (group !== null) break;
    }
    if (group === null) firsts.push({ place, grade: each });
    groups.push(group ?? place);
  }
  return groups;
}

async function isSame(question: RightAnswer, one: Grade, other: Grade, end: number): Promise<boolean> {
  if (one.extracted === other.extracted) return true;
  if (question.grader === 'code' || question.grader === 'custom') return false;
  if (one.verdict !== other.verdict) return false;
  if (one.verdict === 'correct') return true;
  if (Date.now() > end || [one, other].some(({ extracted }) => isClipped(extracted ?? ''))) return false;
  const { verdict } = await grade({ ...question, answer: one.extracted ?? '' }, other.extracted ?? '');
  return verdict === 'correct';
}
