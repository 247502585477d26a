import type { Store } from '../../store/store';
import type { Evaluation } from '../activities/kept';
import type { Summary } from '../summarize';
import { breakDown, downThePage } from './breakdown';
import { type Disagreements, findDisagreements, showDisagreements } from './disagreements';
import type { Report, Table } from '../../report/report';
import { type CheckpointBinder, describeSetting, readWriters } from './setting';

export interface Details {
  /** Scores by data set, topic and level, and the length and workers of the plans. */
  readonly tables: readonly Table[];
  readonly disagreements: Disagreements | null;
}

export async function readDetails(
  store: Store,
  evaluation: Evaluation,
  { reference, primary, againstBestWorker, methods }: Summary,
): Promise<Details> {
  const first = methods.find(({ method }) => method !== reference)?.method;
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
  evaluation: Evaluation,
  summary: Summary,
  binder?: CheckpointBinder,
): Promise<Report['parts']> {
  const { manifest, records } = evaluation;
  const { tables, disagreements } = await readDetails(store, evaluation, summary);
  const writers = await readWriters(manifest, records, binder);
  const shown = disagreements === null ? [] : showDisagreements(disagreements);
  return [...tables.map(downThePage), ...shown, ...describeSetting(manifest, records, writers)];
}
