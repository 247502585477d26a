import { randomBytes } from 'node:crypto';
import { ConductorError } from '../errors';
import { withoutPassword } from '../config/store-url';
import type { Store } from './store';

// Every store has an id, which tells it from another one under the same or a different URL. A copy keeps it.

/** Thrown by a process whose store is not the one of the run that it is given. */
export class OtherStoreError extends ConductorError {
  override readonly name = 'OtherStoreError';
  readonly code = 'OtherStore';
}

const KEY = 'store-id';

/** Reads the id of a plain store. With `make`, one that has none is given one, by the first of all its processes. */
export async function idIn(
  store: Pick<Store, 'read' | 'create'>,
  how: 'read' | 'make',
): Promise<string | null> {
  const found = await store.read(KEY);
  if (found !== null || how === 'read') return found?.toString('utf8') ?? null;
  await store.create(KEY, Buffer.from(randomBytes(6).toString('hex')));
  return idIn(store, 'read');
}

/** Ids that were read, so that each process asks each store once. */
const KNOWN = new WeakMap<Store, string>();

/** Returns the id of a store; null if it has none yet, or is of a kind that has none. */
export async function idOfStore(store: Store, how: 'read' | 'make'): Promise<string | null> {
  const id = KNOWN.get(store) ?? (await store.id?.(how)) ?? null;
  if (id !== null) KNOWN.set(store, id);
  return id;
}

/** Checks that a store is the one in which a run began. @throws OtherStoreError naming both */
export async function checkStoreId(
  store: Store,
  expected: string | undefined,
  who: 'worker' | 'client',
): Promise<void> {
  if (expected === undefined || store.id === undefined) return;
  const id = await idOfStore(store, 'read');
  if (id === expected) return;
  throw new OtherStoreError(
    `the store of this ${who}, ${withoutPassword(store.url)} (${id === null ? 'which has no id yet' : `id ${id}`}), is not ` +
      `the one with id ${expected}, in which the run began: give all workers and clients of a task queue the same ` +
      '"store" (relative paths begin in the folder of each process) and restart those with another one; if that store ' +
      'is gone, restore a copy of it or cancel the run',
  );
}
