import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MS = 250;

/** gRPC status codes of a server that is away, or went away in mid-call: CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE. */
const AWAY = new Set<unknown>([1, 2, 4, 13, 14]);

/** Does something that needs the Temporal server again and again while the server is away, as its users would. */
export async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error)) throw error;
      await delay(PAUSE_MS);
    }
  }
}

function isAway(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('code' in error && AWAY.has(error.code)) return true;
  return 'cause' in error && isAway(error.cause);
}
