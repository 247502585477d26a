import { asFailure } from '../../activities/as-failure';
import { whileHeartbeating } from '../../activities/heartbeat';
import { grade, type RightAnswer } from '../../grading/grade';
import { answerTextOf } from '../../grading/read-answer';
import { groupSame } from '../../grading/same-answer';
import { type Grade, gradeOf } from '../../grading/verdict';
import type { Text } from '../../protocol/text';
import type { Store } from '../../store/store';
import { keepText, readText } from '../../store/texts';
import type {
  Comparing,
  EvaluatedQuestion,
  Graded,
  OpenedQuestion,
  QuestionRef,
  RuleGrade,
} from '../contract';
import { questionFolder, resultKey } from '../keys';
import * as names from '../names';
import type { MethodRecord } from '../records';
import { readResults } from './read-results';
import { QuestionSets } from './question-sets';
import { comparisonOf, verificationOf } from './verification';

/** The side effects of evaluations, by activity type. */
export interface EvaluationActivities {
  [names.OPEN_QUESTION](request: OpenQuestionRequest): Promise<OpenedQuestion>;
  [names.GRADE_ANSWERS](request: GradeRequest): Promise<Graded>;
  [names.COMPARE_ANSWERS](request: CompareRequest): Promise<readonly (Comparing | null)[]>;
  [names.KEEP_RESULT](record: MethodRecord): Promise<void>;
}

type Questions = QuestionSets<EvaluatedQuestion>;

export function createEvaluationActivities(store: Store): EvaluationActivities {
  const questions: Questions = new QuestionSets(store);
  return {
    [names.OPEN_QUESTION]: (request) => asFailure(() => openQuestion(store, questions, request)),
    [names.GRADE_ANSWERS]: (request) =>
      asFailure(() => whileHeartbeating(() => gradeAnswers(store, questions, request))),
    [names.COMPARE_ANSWERS]: (request) => asFailure(() => compareAnswers(store, questions, request)),
    [names.KEEP_RESULT]: (record) =>
      asFailure(() => {
        const key = resultKey(record.evaluation, record.index, record.method);
        return store.write(key, Buffer.from(JSON.stringify(record)));
      }),
  };
}

interface OpenQuestionRequest {
  readonly evaluation: string;
  readonly ref: QuestionRef;
}

/** Activity `conductor.evaluate.openQuestion`: the question, and what is known of it already. */
async function openQuestion(
  store: Store,
  questions: Questions,
  { evaluation, ref }: OpenQuestionRequest,
): Promise<OpenedQuestion> {
  const { id, question, topic, grader, solved, routed } = await questions.read(ref);
  const known = await readResults(store, questionFolder(evaluation, ref.index));
  return {
    id,
    topic,
    text: await keepText(store, question),
    known,
    solved,
    routed,
    ...(grader === 'none' && { isOpen: true }),
  };
}

interface GradeRequest {
  readonly question: QuestionRef;
  readonly answers: readonly (Text | null)[];
  /** The verifier has the last word where the question says so. */
  readonly verifies?: boolean;
  /** Judged likewise where the first answer is wrong, and a rule judges it: what was found on the way to it. */
  readonly onTheWay?: readonly (Text | null)[];
}

const CUSTOM_TIMEOUT_SECONDS = 600;

/**
 * Activity `conductor.evaluate.gradeAnswers`: judges each answer; one that is none (null) is wrong. Grades of what was
 * found on the way come behind those of the answers, by rules alone.
 */
async function gradeAnswers(
  store: Store,
  questions: Questions,
  { question: ref, answers, onTheWay = [], verifies = false }: GradeRequest,
): Promise<Graded> {
  const question = await questions.read(ref);
  if (question.grader === 'custom') {
    const { activity, taskQueue, answer: right, timeoutSeconds = CUSTOM_TIMEOUT_SECONDS } = question;
    return { activity, taskQueue, right, timeoutMs: timeoutSeconds * 1000 };
  }
  const known = new Map<string, RuleGrade>();
  const gradeAll = async (texts: readonly (Text | null)[]): Promise<RuleGrade[]> => {
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
    if (question.grader === 'none') return notKnown(text);
    const found = await gradeTwice(question, text);
    const isOpen = found.verdict === 'wrong' && question.grader === 'freeform' && question.verify === true;
    const verification = isOpen && verifies ? await verificationOf(store, question, text) : null;
    return verification === null ? found : { ...found, verification };
  }
}

/** Several answers are votes: those that the grader holds equal count as one. */
async function groupAnswers(
  question: EvaluatedQuestion,
  grades: readonly RuleGrade[],
): Promise<readonly RuleGrade[]> {
  if (question.grader === 'none' || grades.length < 2) return grades;
  const groups = await groupSame(question, grades);
  return grades.map((each, place) => ({ ...each, sameAs: groups[place] ?? null }));
}

const NO_ANSWER: Grade = {
  verdict: 'wrong',
  extracted: null,
  reason: 'there is no answer',
  graderVersion: 'none',
};

function notKnown(text: string): Grade {
  return gradeOf('none', 'ungraded', answerTextOf(text), 'the right answer to the question is not known');
}

/** A grader that fails is asked once more. */
async function gradeTwice(question: RightAnswer, text: string): Promise<Grade> {
  const first = await grade(question, text);
  return first.verdict === 'ungraded' ? grade(question, text) : first;
}

interface CompareRequest {
  readonly question: QuestionRef;
  readonly answers: readonly [Text, Text];
}

/** Activity `conductor.evaluate.compareAnswers`: what a judge is asked, in both orders; null where it cannot be. */
async function compareAnswers(
  store: Store,
  questions: Questions,
  { question: ref, answers: [one, other] }: CompareRequest,
): Promise<readonly (Comparing | null)[]> {
  const { question } = await questions.read(ref);
  const [first, second] = [await readText(store, one), await readText(store, other)];
  return Promise.all([
    comparisonOf(store, question, [first, second]),
    comparisonOf(store, question, [second, first]),
  ]);
}
