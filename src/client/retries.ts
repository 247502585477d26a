import type { Client } from '@temporalio/client';
import type { HistoryDecoder } from './history';

/** A call that failed at no cost and waits to be tried again. */
export interface Retry {
  /** The attempt that comes next. */
  readonly attempt: number;
  /** Why the last one failed: one sentence that names the worker. */
  readonly reason: string;
}

/** Which calls of a run wait for another attempt; a history does not tell, since retries leave no events. */
export async function readRetries(client: Client, id: string, decoder: HistoryDecoder): Promise<Retry[]> {
  const { raw } = await client.workflow.getHandle(id).describe();
  const waiting = (raw.pendingActivities ?? []).filter(({ lastFailure }) => lastFailure != null);
  return Promise.all(
    waiting.map(async ({ attempt, lastFailure }) => {
      const { message } = await decoder.failure(lastFailure);
      return { attempt: attempt ?? 1, reason: message };
    }),
  );
}
