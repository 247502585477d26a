import { readJson, type Store } from '../../store/store';
import { type Manifest, manifestSchema, type MethodRecord, methodRecordSchema } from '../results';
import { manifestKey } from '../store-keys';

/** Results below a folder, in the order of questions; records of another version are skipped. */
export async function readResults(store: Store, folder: string): Promise<MethodRecord[]> {
  const records = await Promise.all((await store.list(folder)).map((key) => readJson(store, key)));
  return records.flatMap((record) => methodRecordSchema.safeParse(record).data ?? []);
}

/** Null if there is no such evaluation. */
export async function readManifest(store: Store, evaluation: string): Promise<Manifest | null> {
  return manifestSchema.safeParse(await readJson(store, manifestKey(evaluation))).data ?? null;
}
