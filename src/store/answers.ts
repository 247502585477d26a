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
