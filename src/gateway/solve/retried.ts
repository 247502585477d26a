import { z } from 'zod';
import { readRecord, writeRecord } from '../../store/records';
import type { Store } from '../../store/store';
import type { Key } from '../access/keys';

// Clients of OpenAI and Anthropic repeat a request that took too long or broke off, and say so in a header, but not of
// which one it is a repetition: the last one with this key and body.

const FOLDER = 'gateway/asked/';
/** Beyond any time-out of a client's, its waits between attempts included. */
const REPEATED_WITHIN_MS = 30 * 60 * 1000;

const askedSchema = z.object({ id: z.string(), at: z.string() });

function keyOf({ id }: Key, digest: string): string {
  return `${FOLDER}${id}/${digest}.json`;
}

export async function noteAsked(store: Store, key: Key, digest: string, id: string): Promise<void> {
  await writeRecord(store, keyOf(key, digest), { id, at: new Date().toISOString() });
}

/** The id of the solve that the same request was to start, within half an hour. */
export async function readLastAsked(store: Store, key: Key, digest: string): Promise<string | null> {
  const asked = await readRecord(store, keyOf(key, digest), askedSchema);
  return asked === null || Date.now() - Date.parse(asked.at) > REPEATED_WITHIN_MS ? null : asked.id;
}

/** Removes what no request will ask for any more. */
export async function forgetAsked(store: Store): Promise<void> {
  const than = new Date(Date.now() - REPEATED_WITHIN_MS);
  for await (const { key } of store.entries(FOLDER)) await store.removeOlder(key, than);
}
