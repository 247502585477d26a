import { grade, groupSame, type RightAnswer } from '../../grading/grade';
import { wholeQuestion } from '../../grading/question';
import { answerTextOf } from '../../grading/readers';
import { type Grade, gradeOf, shown } from '../../grading/verdict';
import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import {
  type Answers,
  type EvaluatedQuestion,
  type GradedAnswers,
  NO_ANSWER,
  type QuestionRef,
  type RuleGrade,
} from '../contract';
import type { QuestionSets } from './question-sets';
import { verificationOf } from './verification';

export interface GradeRequest {
  readonly question: QuestionRef;
  readonly answers: Answers;
  /** Outputs that led to the first answer; also graded if a rule finds that answer wrong. */
  readonly onTheWay?: Answers;
  /** Span to hang below; absent: one that all processes derive from the id of the workflow. */
  readonly traceparent?: string | undefined;
}

const CUSTOM_TIMEOUT_SECONDS = 600;

/** Less than the activity's timeout: answers not judged by then are `ungraded`, and the rest counts. */
const MOST_GRADING_MS = 20 * 60_000;

/**
 * Activity `conductor.evaluate.gradeAnswers`: grades each distinct answer once; a missing answer is wrong. Grades of
 * `onTheWay` follow, by rule only. For a custom grader, it returns the activity to call instead.
 */
export async function gradeAnswers(
  store: Store,
  questions: QuestionSets<EvaluatedQuestion>,
  { question: ref, answers, onTheWay = [] }: GradeRequest,
): Promise<GradedAnswers> {
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

/** Marks which of several answers the grader considers equal, so that they count as votes for one answer. */
async function groupAnswers(question: EvaluatedQuestion, grades: RuleGrade[]): Promise<RuleGrade[]> {
  if (question.grader === 'none' || grades.length < 2) return grades;
  const groups = await groupSame(question, grades);
  return grades.map((each, place) => ({ ...each, sameAs: groups[place] ?? null }));
}

/** Grades an answer unless `end` has passed; a failed grader is retried once. */
async function gradeBefore(end: number, question: RightAnswer, text: string): Promise<Grade> {
  const late = `grading timed out after ${MOST_GRADING_MS / 60_000} minutes`;
  let found = gradeOf(question.grader, 'ungraded', null, late);
  for (let attempt = 0; attempt < 2 && Date.now() < end; attempt += 1) {
    found = await grade(question, text);
    if (found.verdict !== 'ungraded') return { ...found, reason: shown(found.reason) };
  }
  return found;
}
