import { asFailure } from '../../activities/as-failure';
import { whileHeartbeating } from '../../activities/heartbeat';
import type { Text } from '../../protocol/text';
import type { Store } from '../../store/store';
import { keepText, readText } from '../../store/texts';
import type { Comparing, EvaluatedQuestion, Graded, OpenedQuestion, QuestionRef } from '../contract';
import { questionFolder, resultKey } from '../store-keys';
import * as names from '../names';
import type { MethodRecord } from '../records';
import { gradeAnswers, type GradeRequest } from './grade-answers';
import { readResults } from './read-results';
import { QuestionSets } from './question-sets';
import { comparisonOf } from './verification';

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
  /** Default: none, and nothing is known. */
  readonly evaluation?: string;
  readonly ref: QuestionRef;
}

/** Activity `conductor.evaluate.openQuestion`: the question, and what is known of it already. */
async function openQuestion(
  store: Store,
  questions: Questions,
  { evaluation, ref }: OpenQuestionRequest,
): Promise<OpenedQuestion> {
  const { id, question, topic, grader, solved, routed } = await questions.read(ref);
  const known =
    evaluation === undefined ? [] : await readResults(store, questionFolder(evaluation, ref.index));
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
