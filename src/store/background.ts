import type { Store } from './store';

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
  await store.write(keyOf(begun.callId), Buffer.from(JSON.stringify(begun)));
}

/** The answer that was begun last for this call, if any; it may be over. */
export async function findBegun(store: Store, callId: string): Promise<BegunAnswer | null> {
  const bytes = await store.read(keyOf(callId));
  return bytes === null ? null : (JSON.parse(bytes.toString('utf8')) as BegunAnswer);
}

function keyOf(callId: string): string {
  return `background/${callId.slice(0, 2)}/${callId}.json`;
}
