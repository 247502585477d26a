import { grade, groupSame, type RightAnswer } from '../../grading/grade';
import { wholeQuestion } from '../../grading/question';
import { answerTextOf } from '../../grading/read-answer';
import { type Grade, gradeOf, shown } from '../../grading/verdict';
import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import {
  type Answers,
  type EvaluatedQuestion,
  type Graded,
  NO_ANSWER,
  type QuestionRef,
  type RuleGrade,
} from '../contract';
import type { QuestionSets } from './question-sets';
import { verificationOf } from './verification';

export interface GradeRequest {
  readonly question: QuestionRef;
  readonly answers: Answers;
  /** Judged likewise where the first answer is wrong, and a rule judges it: what was found on the way to it. */
  readonly onTheWay?: Answers;
}

const CUSTOM_TIMEOUT_SECONDS = 600;

/** The activity's own time-out is longer: what is not judged by then is `ungraded`, and the rest counts. */
const MOST_GRADING_MS = 20 * 60_000;

/**
 * Activity `conductor.evaluate.gradeAnswers`: judges each answer, equal ones once; null is wrong. Grades of what was found on
 * the way come behind them, by rules alone. Where an activity of the user's judges, its name comes back instead.
 */
export async function gradeAnswers(
  store: Store,
  questions: QuestionSets<EvaluatedQuestion>,
  { question: ref, answers, onTheWay = [] }: GradeRequest,
): Promise<Graded> {
  const question = await questions.read(ref);
  if (question.grader === 'custom') {
    const { activity, taskQueue, answer: right, timeoutSeconds = CUSTOM_TIMEOUT_SECONDS } = question;
    return { activity, taskQueue, right, timeoutMs: timeoutSeconds * 1000 };
  }
  const end = Date.now() + MOST_GRADING_MS;
  const known = new Map<string, RuleGrade>();
  const gradeAll = async (texts: Answers): Promise<RuleGrade[]> => {
    const grades: RuleGrade[] = [];
    for (const answer of texts) {
      const text = answer === null ? null : await readText(store, answer);
      const found = text === null ? NO_ANSWER : (known.get(text) ?? (await judge(text)));
      if (text !== null) known.set(text, found);
      grades.push(found);
    }
    return grades;
  };
  const grades = await groupAnswers(question, await gradeAll(answers));
  const isWrong = grades[0]?.verdict === 'wrong';
  return isWrong ? [...grades, ...(await gradeAll(onTheWay))] : grades;

  async function judge(text: string): Promise<RuleGrade> {
    if (question.grader === 'none') {
      return gradeOf('none', 'ungraded', answerTextOf(text), 'the right answer to the question is not known');
    }
    const found = await gradeBefore(end, question, text);
    const isNo = found.verdict === 'wrong' || found.verdict === 'unparseable';
    const isOpen = isNo && question.grader === 'freeform' && question.verify === true;
    const verification = isOpen
      ? await verificationOf(store, { ...question, question: wholeQuestion(question) }, text)
      : null;
    return verification === null ? found : { ...found, verification };
  }
}

/** Several answers are votes: those that the grader holds equal count as one. */
async function groupAnswers(question: EvaluatedQuestion, grades: RuleGrade[]): Promise<RuleGrade[]> {
  if (question.grader === 'none' || grades.length < 2) return grades;
  const groups = await groupSame(question, grades);
  return grades.map((each, place) => ({ ...each, sameAs: groups[place] ?? null }));
}

/** A grader that fails is asked once more. */
async function gradeBefore(end: number, question: RightAnswer, text: string): Promise<Grade> {
  const late = `grading timed out after ${MOST_GRADING_MS / 60_000} minutes`;
  let found = gradeOf(question.grader, 'ungraded', null, late);
  for (let attempt = 0; attempt < 2 && Date.now() < end; attempt += 1) {
    found = await grade(question, text);
    if (found.verdict !== 'ungraded') return { ...found, reason: shown(found.reason) };
  }
  return found;
}
