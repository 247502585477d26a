import { z } from 'zod';
import type { ToolAnswer } from '../protocol/tool-use';
import { textSchema } from '../protocol/solve';
import { bytesOf, readRecord } from './records';
import type { Store } from './store';

/** Folder of the calls that callers carry out: where each waits, and its result once it is there. */
export const CALLER_CALLS = 'caller-calls/';

const waitingSchema = z.object({
  /** The solve that it belongs to. */
  root: z.string(),
  /** The run that waits: the solve, or one below it. */
  run: z.string(),
  name: z.string(),
  /** Position in the stream of the solve from which it goes on. */
  cursor: z.string(),
});
export type KeptCall = z.infer<typeof waitingSchema>;

const resultSchema = z.object({
  outcome: z.enum(['ok', 'error']),
  output: textSchema,
  said: textSchema.exactOptional(),
  next: z
    .object({ functions: textSchema.exactOptional(), mustCall: z.literal(true).exactOptional() })
    .exactOptional(),
});

const placeOf = (id: string): string => `${CALLER_CALLS}${id}.json`;
const resultPlaceOf = (id: string): string => `${CALLER_CALLS}${id}.result.json`;

/** Keeps where a call waits, before its caller is told of it; the first that is kept stays. */
export async function keepCallerCall(store: Store, id: string, call: KeptCall): Promise<void> {
  await store.create(placeOf(id), bytesOf(call));
}

export function readCallerCall(store: Store, id: string): Promise<KeptCall | null> {
  return readRecord(store, placeOf(id), waitingSchema);
}

export function readCallerResult(store: Store, id: string): Promise<ToolAnswer | null> {
  return readRecord(store, resultPlaceOf(id), resultSchema);
}

/** Keeps the result of a call, and returns the one that counts: the first. */
export async function keepCallerResult(store: Store, id: string, result: ToolAnswer): Promise<ToolAnswer> {
  await store.create(resultPlaceOf(id), bytesOf(result));
  return (await readCallerResult(store, id)) ?? result;
}

/** Returns the id of the call that a key is about; null for other objects. */
export function callerCallAt(key: string): string | null {
  return /^caller-calls\/(cdr_[A-Za-z0-9]{20})(?:\.result)?\.json$/.exec(key)?.[1] ?? null;
}
