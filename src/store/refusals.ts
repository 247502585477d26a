import { hash } from 'node:crypto';
import { z } from 'zod';
import type { CalledCard } from '../protocol/cards';
import { readStoredJson, type Store } from './store';

const refusedSchema = z.object({ refused: z.array(z.string()) });

const refusalsKey = ({ provider, baseUrl, model }: CalledCard): string =>
  `refusals/${hash('sha256', JSON.stringify([provider, baseUrl, model]))}.json`;

/** Models already noted, so that each process notes a model once. */
const NOTED = new WeakMap<Store, Set<string>>();

/** Notes for `doctor` the streaming settings that a server refused. If the store fails, only the note is lost. */
export async function noteRefused(store: Store, card: CalledCard, dropped: readonly string[]): Promise<void> {
  const refused = dropped.filter((setting) => setting.startsWith('stream'));
  const noted = NOTED.get(store) ?? new Set();
  NOTED.set(store, noted);
  const key = refusalsKey(card);
  if (refused.length === 0 || noted.has(key)) return;
  noted.add(key);
  await store.write(key, Buffer.from(JSON.stringify({ refused }))).catch(() => noted.delete(key));
}

/** Returns the settings that a model's server was seen to refuse; empty if none are known. */
export async function readRefused(store: Store, card: CalledCard): Promise<readonly string[]> {
  return refusedSchema.safeParse(await readStoredJson(store, refusalsKey(card))).data?.refused ?? [];
}
