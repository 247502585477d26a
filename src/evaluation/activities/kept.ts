import { readStoredJson, type Store } from '../../store/store';
import {
  type EvaluatedQuestion,
  EVALUATIONS,
  isEvaluationManifestKey,
  evaluationManifestKey,
  resultsFolder,
} from '../contract';
import {
  type EvaluationManifest,
  evaluationManifestSchema,
  type MethodRecord,
  methodRecordSchema,
} from '../results';
import { readQuestionSet } from './question-sets';

/** A stored evaluation, or the named facts of its manifest, with its results and its questions by index. */
export interface Evaluation<Known extends keyof EvaluationManifest = keyof EvaluationManifest> {
  readonly manifest: Pick<EvaluationManifest, Known>;
  readonly records: readonly MethodRecord[];
  readonly questions: readonly EvaluatedQuestion[];
}

export async function readEvaluation(store: Store, manifest: EvaluationManifest): Promise<Evaluation> {
  const records = await readResults(store, manifest.id);
  const questions = await readQuestionSet<EvaluatedQuestion>(store, manifest.set);
  return { manifest, records, questions };
}

/** Reads the results of an evaluation, or of one of its questions, in order; skips records of other versions. */
export async function readResults(store: Store, evaluation: string, index?: number): Promise<MethodRecord[]> {
  const keys = await store.list(resultsFolder(evaluation, index));
  const records = await Promise.all(keys.map((key) => readStoredJson(store, key)));
  return records.flatMap((record) => methodRecordSchema.safeParse(record).data ?? []);
}

/** Reads the manifest of an evaluation; null if there is no such evaluation. */
export async function readEvaluationManifest(
  store: Store,
  evaluation: string,
): Promise<EvaluationManifest | null> {
  const isId = /^[a-z0-9][a-z0-9-]{0,62}$/.test(evaluation);
  const manifest = isId ? await readStoredJson(store, evaluationManifestKey(evaluation)) : null;
  return evaluationManifestSchema.safeParse(manifest).data ?? null;
}

/** Reads the manifests of all evaluations, newest first. */
export async function readEvaluationManifests(store: Store): Promise<EvaluationManifest[]> {
  const keys = (await store.list(EVALUATIONS)).filter(isEvaluationManifestKey);
  const manifests = await Promise.all(
    keys.map((key) => readEvaluationManifest(store, key.split('/')[1] ?? '')),
  );
  return manifests
    .filter((manifest) => manifest !== null)
    .sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
}
