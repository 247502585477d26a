import { readThoughts } from '../plan/thoughts/read-thoughts';
import { gradeCode } from './code/grade-code';
import { gradeFreeForm } from './free-form';
import { engineVersion, gradeMathematics, INSTALL_COMPUTE_ENGINE } from './mathematics/grade-mathematics';
import { mathVerifyProblem } from './mathematics/math-verify';
import type { GraderQuestion, Question } from './question';
import { answerTextOf, isTagged, normalizeText } from './read-answer';
import { readChoice, readRightChoice } from './read-choice';
import { isSameNumber, readBoxedInteger, readFinalNumber, readNumber } from './read-number';
import { bubblewrap, seenAmong } from './sandbox/bubblewrap';
import { openSandbox } from './sandbox/open-sandbox';
import { SandboxError } from './sandbox/sandbox';
import { type Grade, gradeOf, isClipped, shown } from './verdict';

export { engineVersion, INSTALL_COMPUTE_ENGINE } from './mathematics/grade-mathematics';
export { INSTALL_MATH_VERIFY, pythonPath } from './mathematics/math-verify';
export { openSandbox } from './sandbox/open-sandbox';

export type { Grade, Verdict } from './verdict';

export type RightAnswer = {
  readonly [Grader in Question['grader']]: GraderQuestion<Grader>;
}[Question['grader']];

/**
 * Grades the text in the last `<answer>` tag of a reply, or else the whole reply, by the rules of its question's
 * grader. Thoughts between tags, such as `<think>`, are no part of it. Never throws: if a grader fails or takes too long, the verdict is `ungraded`.
 *
 * @example
 * await grade({ grader: 'math', answer: '\\frac{3}{4}' }, 'It must be <answer>0.75</answer>.'); // verdict: 'correct'
 */
export async function grade(question: RightAnswer, text: string): Promise<Grade> {
  const { answer: reply, thoughts, isOpen } = readThoughts(text);
  if (reply.trim() === '' && thoughts.trim() !== '') {
    const reason = isOpen ? 'it ends inside its thoughts' : 'it has thoughts and no answer';
    return gradeOf(question.grader, 'unparseable', null, reason);
  }
  if (question.tagged === true && question.grader !== 'custom' && !isTagged(reply)) {
    return gradeOf(question.grader, 'unparseable', null, 'it has no <answer> tag');
  }
  return gradeByRules(question, reply);
}

async function gradeByRules(question: RightAnswer, reply: string): Promise<Grade> {
  switch (question.grader) {
    case 'math':
      return gradeMathematics(question.answer, reply);
    case 'code':
      return gradeCode(question, reply);
    case 'custom':
      return gradeOf('custom', 'ungraded', null, `the activity ${question.activity} judges it`);
    case 'exact':
      return gradeExact(question, answerTextOf(reply));
    case 'number':
      return gradeNumber(question, reply);
    case 'choice':
      return gradeChoice(question, reply);
    case 'freeform':
      return gradeFreeForm(question.answer, reply, question.tolerance);
  }
}

function gradeExact({ answer: right, caseSensitive }: GraderQuestion<'exact'>, answer: string): Grade {
  const say = gradeOf.bind(null, 'exact/2');
  const wanted = normalizeText(right, caseSensitive);
  if (wanted === '') return say('ungraded', null, 'the right answer contains no text');
  const isRight = normalizeText(answer, caseSensitive) === wanted;
  return isRight
    ? say('correct', answer, 'it is the same text')
    : say('wrong', answer, `the text differs from ${shown(right)}`);
}

function gradeNumber({ answer: right, tolerance, boxed }: GraderQuestion<'number'>, reply: string): Grade {
  const say = gradeOf.bind(null, 'number/7');
  const wanted = readNumber(right);
  if (wanted === null) return say('ungraded', null, `the right answer ${shown(right)} is not a number`);
  const found = boxed === true ? readBoxedInteger(reply) : readFinalNumber(reply);
  if (found === null)
    return say(
      'unparseable',
      null,
      boxed === true ? 'it has no whole number in a box' : 'it contains no number',
    );
  return isSameNumber(wanted.number, found.number, tolerance)
    ? say('correct', found.text, 'it is the same number')
    : say('wrong', found.text, `the number differs from ${shown(right)}`);
}

function gradeChoice({ answer: right, options }: GraderQuestion<'choice'>, reply: string): Grade {
  const say = gradeOf.bind(null, 'choice/5');
  const wanted = readRightChoice(right, options);
  if (wanted === null) return say('ungraded', null, `the right answer ${shown(right)} is not an option`);
  const found = readChoice(reply, options);
  if (found.letter === null) return say('unparseable', null, found.reason);
  return found.letter === wanted
    ? say('correct', found.letter, 'it is the right option')
    : say('wrong', found.letter, `the right option is ${wanted}`);
}

/** Returns why this machine cannot grade, with a remedy, or null. @param secrets files that no program may see */
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
    const [seen] = name === bubblewrap.name ? seenAmong(secrets) : [];
    return seen === undefined ? null : `programs would see ${seen} in the sandbox: move it out of /usr`;
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return `code cannot be judged: ${error.message}`;
  }
}

/** Time limit of all comparisons, since one of mathematics may take seconds; the rest compare by text only. */
const MAX_COMPARISON_MS = 5 * 60_000;

/** Returns the index of the first answer that the grader finds equal to each one; null if none was extracted. */
export async function groupSame(question: RightAnswer, grades: readonly Grade[]): Promise<(number | null)[]> {
  const end = Date.now() + MAX_COMPARISON_MS;
  const groups: (number | null)[] = [];
  for (const [place, each] of grades.entries()) {
    groups.push(each.extracted === null ? null : place);
    for (const [earlier, first] of grades.slice(0, place).entries()) {
      const isOpen = groups[place] === place && groups[earlier] === earlier;
      if (isOpen && (await isSameAnswer(question, first, each, end))) groups[place] = earlier;
    }
  }
  return groups;
}

async function isSameAnswer(question: RightAnswer, one: Grade, other: Grade, end: number): Promise<boolean> {
  if (one.extracted === other.extracted) return true;
  if (question.grader === 'code' || question.grader === 'custom') return false;
  if (Date.now() > end || [one, other].some(({ extracted }) => isClipped(extracted ?? ''))) return false;
  const { verdict } = await gradeByRules({ ...question, answer: one.extracted ?? '' }, other.extracted ?? '');
  return verdict === 'correct';
}
