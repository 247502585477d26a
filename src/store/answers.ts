import type { Text } from '../protocol/text';
import type { LedgerRow } from './ledger';
import { readJson, type Store } from './store';
import { holdsText } from './texts';

/** A finished, usable answer of a model, kept before it is reported to the workflow. */
export interface KeptAnswer {
  readonly output: Text;
  readonly dropped: readonly string[];
  /** The completed ledger row of the attempt that was answered. */
  readonly row: LedgerRow & { readonly endedAt: string };
}

/**
 * Keeps an answer under its call id: from then on, no crash can have the call bought again. The first to be kept is the
 * call's for good.
 *
 * @returns that one, which may be of another attempt that was under way as well
 */
export async function keepAnswer(store: Store, answer: KeptAnswer): Promise<KeptAnswer> {
  const { callId } = answer.row;
  const key = keyOf('answers', callId);
  const bytes = Buffer.from(JSON.stringify(answer));
  if (await store.create(key, bytes)) return answer;
  const first = await findAnswer(store, callId);
  if (first === null) await store.write(key, bytes);
  return first ?? answer;
}

/** The answer that an earlier attempt of this call was given, if any, and if its text is still there. */
export async function findAnswer(store: Store, callId: string): Promise<KeptAnswer | null> {
  const answer = await readAnswer(store, callId);
  return answer !== null && (await holdsText(store, answer.output)) ? answer : null;
}

/** Finds it whether or not its text is there. */
export async function readAnswer(store: Store, callId: string): Promise<KeptAnswer | null> {
  return (await readJson(store, keyOf('answers', callId))) as KeptAnswer | null;
}

/** An answer that a vendor writes in the background. */
export interface BegunAnswer {
  readonly callId: string;
  /** Which row of the ledger it is paid under. It is over when that row is completed. */
  readonly attempt: number;
  readonly id: string;
}

/** Keeps the id under its call id: from then on, a crash loses the wait for an answer and not the answer. */
export function keepBegun(store: Store, begun: BegunAnswer): Promise<void> {
  return store.write(keyOf('background', begun.callId), Buffer.from(JSON.stringify(begun)));
}

/** The last answer that was started for this call, if any; it may be over. */
export async function findBegun(store: Store, callId: string): Promise<BegunAnswer | null> {
  return (await readJson(store, keyOf('background', callId))) as BegunAnswer | null;
}

function keyOf(folder: string, callId: string): string {
  return `${folder}/${callId.slice(0, 2)}/${callId}.json`;
}
