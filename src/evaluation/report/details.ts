import type { Store } from '../../store/store';
import { QuestionSets } from '../activities/question-sets';
import type { EvaluatedQuestion } from '../contract';
import type { Manifest, MethodRecord } from '../results';
import type { Summary } from '../summarize';
import { breakDown } from './breakdown';
import { type Disagreements, findDisagreements, showDisagreements } from './disagreements';
import type { Report, Table } from './report';
import { type CheckpointBinder, describeSetting, readWriters } from './setting';

export interface Details {
  /** Scores by data set, topic and level, and the length and workers of the plans. */
  readonly tables: readonly Table[];
  readonly disagreements: Disagreements | null;
}

export async function readDetails(
  store: Store,
  manifest: Manifest,
  records: readonly MethodRecord[],
  summary: Summary,
): Promise<Details> {
  const { methods, workers, primary } = manifest;
  const evaluation = { methods, workers, records, questions: await readQuestions(store, manifest) };
  const { reference, againstBestWorker, methods: tried } = summary;
  const first = tried.find(({ method }) => method !== reference)?.method;
  // Falls back to the best worker alone, then to the first other method.
  const other = primary ?? againstBestWorker?.against ?? first;
  return {
    tables: breakDown(evaluation),
    disagreements: other === undefined ? null : await findDisagreements(store, reference, other, evaluation),
  };
}

/** Returns a report's parts below the table: scores by data set, topic and level, disagreements, and settings. */
export async function detailsOf(
  store: Store,
  manifest: Manifest,
  records: readonly MethodRecord[],
  summary: Summary,
  binder?: CheckpointBinder,
): Promise<Report['parts']> {
  const { tables, disagreements } = await readDetails(store, manifest, records, summary);
  const writers = await readWriters(manifest, records, binder);
  const shown = disagreements === null ? [] : showDisagreements(disagreements);
  return [...tables, ...shown, ...describeSetting(manifest, records, writers)];
}

/** Reads all lines of an evaluation's set, in order. */
export async function readQuestions(
  store: Store,
  { set, questions: count }: Pick<Manifest, 'set' | 'questions'>,
): Promise<EvaluatedQuestion[]> {
  const sets = new QuestionSets<EvaluatedQuestion>(store);
  const indices = Array.from({ length: count }, (_, index) => index);
  return Promise.all(indices.map((index) => sets.read({ set, index })));
}
