import { z } from 'zod';
import { readRecord, writeRecord } from '../../store/records';
import type { Store } from '../../store/store';
import type { Key } from '../access/keys';

// Clients of OpenAI and Anthropic retry a request that timed out or broke off. A header marks it as a retry, but not
// of which request: it is taken for the last one with the same key, path and body.

/** Lifetime of half an hour, longer than any client's timeout with the waits between its attempts. */
export const ASKED = { folder: 'gateway/asked/', lifeMs: 30 * 60 * 1000 };

const askedSchema = z.object({ id: z.string(), at: z.string() });

function keyOf({ id }: Key, digest: string): string {
  return `${ASKED.folder}${id}/${digest}.json`;
}

export async function noteAsked(store: Store, key: Key, digest: string, id: string): Promise<void> {
  await writeRecord(store, keyOf(key, digest), { id, at: new Date().toISOString() });
}

/** Returns the id of the solve for the same request, if that was sent in the last half hour. */
export async function readLastAsked(store: Store, key: Key, digest: string): Promise<string | null> {
  const asked = await readRecord(store, keyOf(key, digest), askedSchema);
  return asked === null || Date.now() - Date.parse(asked.at) > ASKED.lifeMs ? null : asked.id;
}
