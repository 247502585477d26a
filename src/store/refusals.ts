import { hash } from 'node:crypto';
import { z } from 'zod';
import type { ConductorCard, ModelCard } from '../protocol/cards';
import { readJson, type Store } from './store';

type Card = ModelCard | ConductorCard;

const refusedSchema = z.object({ refused: z.array(z.string()) });

const keyOf = ({ provider, baseUrl, model }: Card): string =>
  `refusals/${hash('sha256', JSON.stringify([provider, baseUrl, model]))}.json`;

/** Models that were noted, so that each process notes one once. */
const NOTED = new WeakMap<Store, Set<string>>();

/** Notes for `doctor` what a server refused of streaming. A store that fails costs the note alone. */
export async function noteRefused(store: Store, card: Card, dropped: readonly string[]): Promise<void> {
  const refused = dropped.filter((setting) => setting.startsWith('stream'));
  const noted = NOTED.get(store) ?? new Set();
  NOTED.set(store, noted);
  const key = keyOf(card);
  if (refused.length === 0 || noted.has(key)) return;
  noted.add(key);
  await store.write(key, Buffer.from(JSON.stringify({ refused }))).catch(() => noted.delete(key));
}

/** Settings that a model's server was seen to refuse; none where nothing is known. */
export async function readRefused(store: Store, card: Card): Promise<readonly string[]> {
  return refusedSchema.safeParse(await readJson(store, keyOf(card))).data?.refused ?? [];
}
