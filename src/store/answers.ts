import type { Text } from '../protocol/text';
import type { LedgerRow } from './ledger';
import type { Store } from './store';

/** A finished, usable answer of a model, kept before it is reported to the workflow. */
export interface KeptAnswer {
  readonly output: Text;
  readonly dropped: readonly string[];
  /** The completed ledger row of the attempt that was answered. */
  readonly row: LedgerRow & { readonly endedAt: string };
}

/** Keeps an answer under its call id: from here on, no crash can make the call be bought again. */
export async function keepAnswer(store: Store, answer: KeptAnswer): Promise<void> {
  await keep(store, 'answers', answer.row.callId, answer);
}

/** The answer an earlier attempt of this call was given, if any. */
export function findAnswer(store: Store, callId: string): Promise<KeptAnswer | null> {
  return find<KeptAnswer>(store, 'answers', callId);
}

/** An answer that a vendor writes in the background, by the id under which any process may fetch it. */
export interface BegunAnswer {
  readonly callId: string;
  /** Which row of the ledger it is paid under. Over when that row is completed. */
  readonly attempt: number;
  /** The vendor's name for it. */
  readonly id: string;
}

/** Keeps the id under its call id: from here on, a crash loses the wait for an answer and not the answer. */
export async function keepBegun(store: Store, begun: BegunAnswer): Promise<void> {
  await keep(store, 'background', begun.callId, begun);
}

/** The last answer that was started for this call, if any; it may be over. */
export function findBegun(store: Store, callId: string): Promise<BegunAnswer | null> {
  return find<BegunAnswer>(store, 'background', callId);
}

async function keep(store: Store, folder: string, callId: string, value: object): Promise<void> {
  await store.write(keyOf(folder, callId), Buffer.from(JSON.stringify(value)));
}

async function find<Value>(store: Store, folder: string, callId: string): Promise<Value | null> {
  const bytes = await store.read(keyOf(folder, callId));
  return bytes === null ? null : (JSON.parse(bytes.toString('utf8')) as Value);
}

function keyOf(folder: string, callId: string): string {
  return `${folder}/${callId.slice(0, 2)}/${callId}.json`;
}
