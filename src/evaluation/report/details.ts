import type { Store } from '../../store/store';
import { QuestionSets } from '../activities/question-sets';
import type { EvaluatedQuestion } from '../contract';
import type { Manifest, MethodRecord } from '../results';
import type { Summary } from '../summarize';
import { breakDown } from './breakdown';
import { showDisagreements } from './disagreements';
import type { Report } from './report';
import { describeSetting } from './setting';

/** The one to disagree with: the best worker alone, else the next method. */
function otherMethod({ againstBestWorker, methods, reference }: Summary): string | undefined {
  return againstBestWorker?.against ?? methods.find(({ method }) => method !== reference)?.method;
}

/** What a report has below its table: scores by data set, topic and level, disagreements, and how it was made. */
export async function detailsOf(
  store: Store,
  manifest: Manifest,
  records: readonly MethodRecord[],
  summary: Summary,
): Promise<Report['parts']> {
  const { methods, workers, primary } = manifest;
  const questions = await readQuestions(store, manifest);
  const evaluation = { methods, workers, records, questions };
  const other = primary ?? otherMethod(summary);
  return [
    ...breakDown(evaluation),
    ...(other === undefined ? [] : await showDisagreements(store, summary.reference, other, evaluation)),
    ...describeSetting(manifest, records),
  ];
}

/** All lines of its set, by place. */
export async function readQuestions(
  store: Store,
  { set, questions: count }: Pick<Manifest, 'set' | 'questions'>,
): Promise<EvaluatedQuestion[]> {
  const sets = new QuestionSets<EvaluatedQuestion>(store);
  const indices = Array.from({ length: count }, (_, index) => index);
  return Promise.all(indices.map((index) => sets.read({ set, index })));
}
