import { asFailure } from '../../activities/as-failure';
import { keepConversation } from '../../store/conversations';
import { whileHeartbeating } from '../../activities';
import { keepAsked } from '../../client';
import { type AskedWhole, type Question, wholeQuestion } from '../../grading/question';
import type { Text } from '../../protocol/text';
import type { Store } from '../../store/store';
import { keepText, readText } from '../../store/texts';
import {
  type AskedQuestion,
  COMPARE_ANSWERS,
  type EvaluatedQuestion,
  GRADE_ANSWERS,
  type GradedAnswers,
  type Judging,
  KEEP_RESULT,
  OPEN_QUESTION,
  type OpenedQuestion,
  type QuestionRef,
  resultKey,
} from '../contract';
import type { MethodRecord } from '../results';
import { gradeAnswers, type GradeRequest } from './grade-answers';
import { whileGrading } from './grade-span';
import { readResults } from './kept';
import { QuestionSets } from './question-sets';
import { comparisonOf } from './verification';

export { QuestionSets, readQuestionSet } from './question-sets';

export interface EvaluationActivities {
  [OPEN_QUESTION](request: {
    readonly evaluation?: string;
    readonly ref: QuestionRef;
  }): Promise<OpenedQuestion>;
  [GRADE_ANSWERS](request: GradeRequest): Promise<GradedAnswers>;
  [COMPARE_ANSWERS](request: {
    readonly question: QuestionRef;
    readonly answers: readonly [Text, Text];
  }): Promise<readonly (Judging | null)[]>;
  [KEEP_RESULT](record: MethodRecord): Promise<void>;
}

export function createEvaluationActivities(store: Store): EvaluationActivities {
  const questions = new QuestionSets<EvaluatedQuestion>(store);
  return {
    [OPEN_QUESTION]: ({ evaluation, ref }) =>
      asFailure(async () => {
        const question = await questions.read(ref);
        const { grader, solved, routed, repeat } = question;
        const opened = {
          ...(await keepQuestion(store, question)),
          asked: await keepAskedWhole(store, question),
        };
        const known = evaluation === undefined ? [] : await readResults(store, evaluation, ref.index);
        return { ...opened, known, solved, routed, repeat, ...(grader === 'none' && { isOpen: true }) };
      }),
    [GRADE_ANSWERS]: (request) =>
      asFailure(() =>
        whileHeartbeating(() => whileGrading(request, () => gradeAnswers(store, questions, request))),
      ),
    [COMPARE_ANSWERS]: ({ question: ref, answers }) =>
      asFailure(async () => {
        const question = wholeQuestion(await questions.read(ref));
        const [one, other] = [await readText(store, answers[0]), await readText(store, answers[1])];
        return Promise.all([
          comparisonOf(store, question, [one, other]),
          comparisonOf(store, question, [other, one]),
        ]);
      }),
    [KEEP_RESULT]: (record) =>
      asFailure(() => {
        const key = resultKey(record.evaluation, record.index, record.method);
        return store.write(key, Buffer.from(JSON.stringify(record)));
      }),
  };
}

/** Stores a question's texts and returns it as attempts within a workflow get it. */
export async function keepQuestion(
  store: Store,
  { id, topic, question, conversation }: Pick<Question, 'id' | 'topic'> & AskedWhole,
): Promise<AskedQuestion> {
  return {
    id,
    topic,
    text: await keepText(store, question),
    ...(conversation && { conversation: await keepConversation(store, conversation) }),
  };
}

/** Stores a question's texts and returns it as the input of a solve. */
function keepAskedWhole(
  store: Store,
  { question, conversation = [] }: AskedWhole,
): Promise<OpenedQuestion['asked']> {
  const last = { role: 'user', content: question } as const;
  return keepAsked(store, conversation.length === 0 ? { question } : { messages: [...conversation, last] });
}
