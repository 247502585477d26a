import { readJson, type Store } from '../../store/store';
import { type EvaluatedQuestion, EVALUATIONS, isManifestKey, manifestKey, resultsFolder } from '../contract';
import { type Manifest, manifestSchema, type MethodRecord, methodRecordSchema } from '../results';
import { readQuestionSet } from './question-sets';

/** A stored evaluation, or the named facts of its manifest, with its results and its questions by index. */
export interface Evaluation<Known extends keyof Manifest = keyof Manifest> {
  readonly manifest: Pick<Manifest, Known>;
  readonly records: readonly MethodRecord[];
  readonly questions: readonly EvaluatedQuestion[];
}

export async function readEvaluation(store: Store, manifest: Manifest): Promise<Evaluation> {
  const records = await readResults(store, manifest.id);
  const questions = await readQuestionSet<EvaluatedQuestion>(store, manifest.set);
  return { manifest, records, questions };
}

/** Reads the results of an evaluation, or of one of its questions, in order; skips records of other versions. */
export async function readResults(store: Store, evaluation: string, index?: number): Promise<MethodRecord[]> {
  const keys = await store.list(resultsFolder(evaluation, index));
  const records = await Promise.all(keys.map((key) => readJson(store, key)));
  return records.flatMap((record) => methodRecordSchema.safeParse(record).data ?? []);
}

/** Reads the manifest of an evaluation; null if there is no such evaluation. */
export async function readManifest(store: Store, evaluation: string): Promise<Manifest | null> {
  const isId = /^[a-z0-9][a-z0-9-]{0,62}$/.test(evaluation);
  const manifest = isId ? await readJson(store, manifestKey(evaluation)) : null;
  return manifestSchema.safeParse(manifest).data ?? null;
}

/** Reads the manifests of all evaluations, newest first. */
export async function readManifests(store: Store): Promise<Manifest[]> {
  const keys = (await store.list(EVALUATIONS)).filter(isManifestKey);
  const manifests = await Promise.all(keys.map((key) => readManifest(store, key.split('/')[1] ?? '')));
  return manifests
    .filter((manifest) => manifest !== null)
    .sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
}
