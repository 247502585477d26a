import { setTimeout as pause } from 'node:timers/promises';
import { type Client, isGrpcServiceError, ServiceError, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { SolveTrace } from '../protocol/solve';
import { readTraceLeft } from './trace-reader';

/** gRPC's RESOURCE_EXHAUSTED. */
const EXHAUSTED = 8;
const AGAIN_MS = 5_000;

/**
 * Waits for a run by one long poll, however much happens in it: following it would take one for each event. null where
 * the run left no trace, since it was cancelled or terminated.
 *
 * A server lets so many wait at a time (`frontend.namespaceCount`, 1,200 by default), and turns the others away: they
 * ask again.
 */
export async function awaitEnd(
  client: Client,
  { id, runId }: { readonly id: string; readonly runId: string },
): Promise<SolveTrace | null> {
  const run = client.workflow.getHandle(id, runId);
  for (;;) {
    try {
      return readTraceLeft(await run.result());
    } catch (error) {
      if (error instanceof WorkflowFailedError) {
        const { cause } = error;
        return readTraceLeft(cause instanceof ApplicationFailure ? cause.details?.[0] : undefined);
      }
      if (!isTurnedAway(error)) throw error;
      // Not all at the same moment.
      await pause(AGAIN_MS * (1 + Math.random()));
    }
  }
}

function isTurnedAway(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : null;
  const code: number | null = isGrpcServiceError(cause) ? cause.code : null;
  return code === EXHAUSTED;
}
