import type { Text } from '../protocol/text';
import type { LedgerRow } from './ledger';
import type { Store } from './store';

/** A finished, usable answer of a model, kept before anybody is told of it. */
export interface KeptAnswer {
  readonly output: Text;
  readonly dropped: readonly string[];
  /** The completed ledger row of the attempt that was answered. */
  readonly row: LedgerRow & { readonly endedAt: string };
}

/** Keeps an answer under its call id: from here on, no crash can make the call be bought again. */
export async function keepAnswer(store: Store, answer: KeptAnswer): Promise<void> {
  await store.write(keyOf(answer.row.callId), Buffer.from(JSON.stringify(answer)));
}

/** The answer an earlier attempt of this call was given, if any. */
export async function findAnswer(store: Store, callId: string): Promise<KeptAnswer | null> {
  const bytes = await store.read(keyOf(callId));
  return bytes === null ? null : (JSON.parse(bytes.toString('utf8')) as KeptAnswer);
}

function keyOf(callId: string): string {
  return `answers/${callId.slice(0, 2)}/${callId}.json`;
}

/** An answer that a vendor writes while nobody waits, by the id under which anybody may come for it. */
export interface BegunAnswer {
  readonly callId: string;
  /** Which row of the ledger it is paid under. Over when that row is completed. */
  readonly attempt: number;
  /** The vendor's name for it. */
  readonly id: string;
}

/** Keeps the id under its call id: from here on, a crash loses the wait for an answer and not the answer. */
export async function keepBegun(store: Store, begun: BegunAnswer): Promise<void> {
  await store.write(keyOfBegun(begun.callId), Buffer.from(JSON.stringify(begun)));
}

/** The answer that was begun last for this call, if any; it may be over. */
export async function findBegun(store: Store, callId: string): Promise<BegunAnswer | null> {
  const bytes = await store.read(keyOfBegun(callId));
  return bytes === null ? null : (JSON.parse(bytes.toString('utf8')) as BegunAnswer);
}

function keyOfBegun(callId: string): string {
  return `background/${callId.slice(0, 2)}/${callId}.json`;
}
