import { readJson, type Store } from '../../store/store';
import { type Manifest, manifestSchema, type MethodRecord, methodRecordSchema } from '../records';
import { manifestKey } from '../keys';

/** What is known below a folder of results, in the order of questions; what cannot be read counts as not known. */
export async function readResults(store: Store, folder: string): Promise<MethodRecord[]> {
  const records = await Promise.all((await store.list(folder)).map((key) => readJson(store, key)));
  return records.flatMap((record) => methodRecordSchema.safeParse(record).data ?? []);
}

/** null where there is no such evaluation. */
export async function readManifest(store: Store, evaluation: string): Promise<Manifest | null> {
  return manifestSchema.safeParse(await readJson(store, manifestKey(evaluation))).data ?? null;
}
