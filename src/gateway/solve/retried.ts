import { z } from 'zod';
import { readRecord, writeRecord } from '../../store/records';
import type { Store } from '../../store/store';
import type { Key } from '../access/keys';

// Clients of OpenAI and Anthropic repeat a request that took too long or broke off, and say so in a header, but not of
// which one it is a repetition: the last one with this key and body.

/** Half an hour is beyond any time-out of a client's, its waits between attempts included. */
export const ASKED = { folder: 'gateway/asked/', lifeMs: 30 * 60 * 1000 };

const askedSchema = z.object({ id: z.string(), at: z.string() });

function keyOf({ id }: Key, digest: string): string {
  return `${ASKED.folder}${id}/${digest}.json`;
}

export async function noteAsked(store: Store, key: Key, digest: string, id: string): Promise<void> {
  await writeRecord(store, keyOf(key, digest), { id, at: new Date().toISOString() });
}

/** The id of the solve that the same request was to start, within half an hour. */
export async function readLastAsked(store: Store, key: Key, digest: string): Promise<string | null> {
  const asked = await readRecord(store, keyOf(key, digest), askedSchema);
  return asked === null || Date.now() - Date.parse(asked.at) > ASKED.lifeMs ? null : asked.id;
}
