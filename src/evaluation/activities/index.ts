import { asFailure } from '../../activities/as-failure';
import { whileHeartbeating } from '../../activities/heartbeat';
import type { Text } from '../../protocol/text';
import { readJson, type Store } from '../../store/store';
import { keepText, readText } from '../../store/texts';
import {
  COMPARE_ANSWERS,
  type EvaluatedQuestion,
  GRADE_ANSWERS,
  type Graded,
  type Judging,
  KEEP_RESULT,
  manifestKey,
  OPEN_QUESTION,
  type OpenedQuestion,
  questionFolder,
  type QuestionRef,
  resultKey,
} from '../contract';
import { type Manifest, manifestSchema, type MethodRecord, methodRecordSchema } from '../results';
import { gradeAnswers, type GradeRequest } from './grade-answers';
import { QuestionSets } from './question-sets';
import { comparisonOf } from './verification';

interface OpenQuestionRequest {
  /** Default: none, and nothing is known. */
  readonly evaluation?: string;
  readonly ref: QuestionRef;
}

interface CompareRequest {
  readonly question: QuestionRef;
  readonly answers: readonly [Text, Text];
}

export interface EvaluationActivities {
  /** The question, and what is known of it already. */
  [OPEN_QUESTION](request: OpenQuestionRequest): Promise<OpenedQuestion>;
  [GRADE_ANSWERS](request: GradeRequest): Promise<Graded>;
  /** What a judge is asked, in both orders; null where it cannot be. */
  [COMPARE_ANSWERS](request: CompareRequest): Promise<readonly (Judging | null)[]>;
  [KEEP_RESULT](record: MethodRecord): Promise<void>;
}

export function createEvaluationActivities(store: Store): EvaluationActivities {
  const questions = new QuestionSets<EvaluatedQuestion>(store);

  async function openQuestion({ evaluation, ref }: OpenQuestionRequest): Promise<OpenedQuestion> {
    const { id, question, topic, grader, solved, routed } = await questions.read(ref);
    return {
      id,
      topic,
      text: await keepText(store, question),
      known: evaluation === undefined ? [] : await readResults(store, questionFolder(evaluation, ref.index)),
      solved,
      routed,
      ...(grader === 'none' && { isOpen: true }),
    };
  }

  async function compareAnswers({ question: ref, answers }: CompareRequest): Promise<(Judging | null)[]> {
    const { question } = await questions.read(ref);
    const [one, other] = [await readText(store, answers[0]), await readText(store, answers[1])];
    return Promise.all([
      comparisonOf(store, question, [one, other]),
      comparisonOf(store, question, [other, one]),
    ]);
  }

  return {
    [OPEN_QUESTION]: (request) => asFailure(() => openQuestion(request)),
    [GRADE_ANSWERS]: (request) =>
      asFailure(() => whileHeartbeating(() => gradeAnswers(store, questions, request))),
    [COMPARE_ANSWERS]: (request) => asFailure(() => compareAnswers(request)),
    [KEEP_RESULT]: (record) =>
      asFailure(() => {
        const key = resultKey(record.evaluation, record.index, record.method);
        return store.write(key, Buffer.from(JSON.stringify(record)));
      }),
  };
}

/** Results below a folder, in the order of questions; records of another version are skipped. */
export async function readResults(store: Store, folder: string): Promise<MethodRecord[]> {
  const records = await Promise.all((await store.list(folder)).map((key) => readJson(store, key)));
  return records.flatMap((record) => methodRecordSchema.safeParse(record).data ?? []);
}

/** Null if there is no such evaluation. */
export async function readManifest(store: Store, evaluation: string): Promise<Manifest | null> {
  return manifestSchema.safeParse(await readJson(store, manifestKey(evaluation))).data ?? null;
}
