import { asFailure } from '../../activities/as-failure';
import { whileHeartbeating } from '../../activities/heartbeat';
import { grade, type RightAnswer } from '../../grading/grade';
import type { Grade } from '../../grading/verdict';
import type { Text } from '../../protocol/text';
import type { Store } from '../../store/store';
import { keepText, readText } from '../../store/texts';
import type { EvaluatedQuestion, Graded, OpenedQuestion, QuestionRef } from '../contract';
import { questionFolder, resultKey } from '../keys';
import * as names from '../names';
import type { MethodRecord } from '../records';
import { readResults } from './read-results';
import { QuestionSets } from './question-sets';

/** The side effects of evaluations, by activity type. */
export interface EvaluationActivities {
  [names.OPEN_QUESTION](request: OpenQuestionRequest): Promise<OpenedQuestion>;
  [names.GRADE_ANSWERS](request: GradeRequest): Promise<Graded>;
  [names.KEEP_RESULT](record: MethodRecord): Promise<void>;
}

export function createEvaluationActivities(store: Store): EvaluationActivities {
  const questions = new QuestionSets(store);
  return {
    [names.OPEN_QUESTION]: (request) => asFailure(() => openQuestion(store, questions, request)),
    [names.GRADE_ANSWERS]: (request) =>
      asFailure(() => whileHeartbeating(() => gradeAnswers(store, questions, request))),
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
  questions: QuestionSets,
  { evaluation, ref }: OpenQuestionRequest,
): Promise<OpenedQuestion> {
  const { id, question, topic, routed }: EvaluatedQuestion = await questions.read(ref);
  const known = await readResults(store, questionFolder(evaluation, ref.index));
  return { id, topic, text: await keepText(store, question), known, routed };
}

interface GradeRequest {
  readonly question: QuestionRef;
  readonly answers: readonly (Text | null)[];
  /** Judged likewise where the first answer is wrong, and a rule judges it: what was found on the way to it. */
  readonly onTheWay?: readonly (Text | null)[];
}

const CUSTOM_TIMEOUT_SECONDS = 600;

/**
 * Activity `conductor.evaluate.gradeAnswers`: judges each answer; one that is none (null) is wrong. Grades of what was
 * found on the way come behind those of the answers.
 */
async function gradeAnswers(store: Store, questions: QuestionSets, request: GradeRequest): Promise<Graded> {
  const question = await questions.read(request.question);
  if (question.grader === 'custom') {
    const { activity, taskQueue, answer: right, timeoutSeconds = CUSTOM_TIMEOUT_SECONDS } = question;
    return { activity, taskQueue, right, timeoutMs: timeoutSeconds * 1000 };
  }
  const known = new Map<string, Grade>();
  const gradeAll = async (answers: readonly (Text | null)[]): Promise<Grade[]> => {
    const grades: Grade[] = [];
    for (const answer of answers) {
      const text = answer === null ? null : await readText(store, answer);
      const found = text === null ? NO_ANSWER : (known.get(text) ?? (await gradeTwice(question, text)));
      if (text !== null) known.set(text, found);
      grades.push(found);
    }
    return grades;
  };
  const grades = await gradeAll(request.answers);
  const isWrong = grades[0]?.verdict === 'wrong';
  return isWrong ? [...grades, ...(await gradeAll(request.onTheWay ?? []))] : grades;
}

const NO_ANSWER: Grade = {
  verdict: 'wrong',
  extracted: null,
  reason: 'there is no answer',
  graderVersion: 'none',
};

/** A grader that fails is asked once more. */
async function gradeTwice(question: RightAnswer, text: string): Promise<Grade> {
  const first = await grade(question, text);
  return first.verdict === 'ungraded' ? grade(question, text) : first;
}
