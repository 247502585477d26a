import { UsageError } from '../../cli/exit-code';
import { say } from '../../cli/terminal';
import { someOf } from '../../config/errors';
import type { Store } from '../../store/store';
import { readManifest } from '../activities/read-results';
import { EVALUATIONS, isManifestKey } from '../keys';
import type { Manifest } from '../records';

/** Every evaluation of a store, the latest first. */
export async function evaluationsIn(store: Store): Promise<Manifest[]> {
  const keys = (await store.list(EVALUATIONS)).filter(isManifestKey);
  const manifests = await Promise.all(keys.map((key) => readManifest(store, key.split('/')[1] ?? '')));
  return manifests
    .filter((manifest) => manifest !== null)
    .sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
}

/**
 * The evaluation that a person means: by its id, by the beginning of it that no other has, or by `last`.
 *
 * @throws UsageError where there is none, or more than one
 */
export async function findEvaluation(store: Store, given: string): Promise<Manifest> {
  const isId = /^[a-z0-9][a-z0-9-]{0,62}$/.test(given);
  const exact = isId ? await readManifest(store, given) : null;
  if (exact !== null) return exact;
  const all = await evaluationsIn(store);
  const [found, ...others] =
    given === 'last' ? all.slice(0, 1) : all.filter(({ id }) => id.startsWith(given));
  if (found === undefined) {
    const what = given === 'last' ? 'no evaluation yet' : `no evaluation ${JSON.stringify(given)}`;
    throw new UsageError(`the store ${store.url} has ${what}: check the id and the folder`);
  }
  if (others.length > 0) {
    const ids = [found, ...others].map(({ id }) => id);
    throw new UsageError(
      `${JSON.stringify(given)} is the beginning of more than one evaluation; give more of its id: ${someOf(ids)}`,
    );
  }
  say(`Evaluation ${found.id}`);
  return found;
}
