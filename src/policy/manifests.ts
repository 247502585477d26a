import { manifestKey } from '../training/keys';
import { checkpointId, manifestSchema, type Manifest } from '../training/manifest';
import { POLICY_FAILURES } from '../training/policy-failures';
import type { Store } from '../store/store';
import { PolicyError } from './policy-error';
import { readJson } from './read-json';

/** A checkpoint as pointers name it. */
type Named = Pick<Manifest, 'trainRun' | 'name'>;

/** Keeps how a checkpoint must be asked, where every worker finds it. */
export async function writeManifest(store: Store, manifest: Manifest): Promise<void> {
  await store.write(manifestKey(manifest.trainRun, manifest.name), Buffer.from(JSON.stringify(manifest)));
}

/**
 * How a checkpoint must be asked.
 *
 * @throws PolicyError `Policy.NoManifest` where there is none, or none that this version can read
 */
export async function readManifest(store: Store, checkpoint: Named): Promise<Manifest> {
  const key = manifestKey(checkpoint.trainRun, checkpoint.name);
  const bytes = await store.read(key);
  const id = checkpointId(checkpoint);
  if (bytes === null) {
    throw new PolicyError(
      POLICY_FAILURES.noManifest,
      `checkpoint ${id} has no manifest in the store ${store.url}`,
      'Name a checkpoint that was trained with this store: "temporal-conductor train list" tells them.',
    );
  }
  const { success, data, error } = manifestSchema.safeParse(readJson(bytes.toString('utf8')));
  if (success) return data;
  throw new PolicyError(
    POLICY_FAILURES.noManifest,
    `the manifest of checkpoint ${id} (${key} in the store ${store.url}) cannot be read at ` +
      `"${error.issues[0]?.path.join('.') ?? ''}"`,
    'It is of another version of this package, or was altered; use the version that wrote it.',
  );
}
