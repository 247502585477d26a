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

/**
 * Keeps an answer under its call id: from then on, no crash can have the call bought again. The first to be kept is the
 * call's for good.
 *
 * @returns that one, which may be of another attempt that was under way as well
 */
export async function keepAnswer(store: Store, answer: KeptAnswer): Promise<KeptAnswer> {
  const { callId } = answer.row;
  const bytes = Buffer.from(JSON.stringify(answer));
  if (await store.create(keyOf('answers', callId), bytes)) return answer;
  return (await findAnswer(store, callId)) ?? answer;
}

/** The answer that an earlier attempt of this call was given, if any. */
export function findAnswer(store: Store, callId: string): Promise<KeptAnswer | null> {
  return find<KeptAnswer>(store, 'answers', callId);
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
export function findBegun(store: Store, callId: string): Promise<BegunAnswer | null> {
  return find<BegunAnswer>(store, 'background', callId);
}

async function find<Value>(store: Store, folder: string, callId: string): Promise<Value | null> {
  const bytes = await store.read(keyOf(folder, callId));
  return bytes === null ? null : (JSON.parse(bytes.toString('utf8')) as Value);
}

function keyOf(folder: string, callId: string): string {
  return `${folder}/${callId.slice(0, 2)}/${callId}.json`;
}
