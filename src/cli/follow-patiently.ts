import { setTimeout as pause } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import { durationMs } from '../config/duration';
import type { SolveResult } from '../protocol/solve';
import type { Session } from './session';
import type { Say } from '../local/reason-of';

const AGAIN_MS = 1_000;

/**
 * The trace of a run as it grows, also when the server is away meanwhile, which is told.
 *
 * @param patience longer than a server takes to be started elsewhere, and shorter than a script should hang
 * @throws Error with the reason where it stays away
 */
export async function* followPatiently(
  { conductor, server: { address } }: Pick<Session, 'conductor' | 'server'>,
  id: string,
  tell: Say,
  patience = '5m',
): AsyncGenerator<SolveResult> {
  let awaySince: number | null = null;
  for (;;) {
    try {
      for await (const trace of conductor.watch(id)) {
        if (awaySince !== null) tell(`Temporal at ${address} answers again.`);
        awaySince = null;
        yield trace;
      }
      return;
    } catch (error) {
      const reason = reasonAway(error);
      if (reason === null) throw error;
      if (awaySince === null) {
        tell(`Temporal at ${address} does not answer (${reason}): waiting for it, ${patience} at most.`);
        awaySince = Date.now();
      } else if (Date.now() - awaySince > durationMs(patience)) {
        throw new Error(`Temporal at ${address} has not answered for ${patience} (${reason})`, {
          cause: error,
        });
      }
      await pause(AGAIN_MS);
    }
  }
}

/** gRPC's UNKNOWN, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL and UNAVAILABLE: it may be otherwise next time. */
const PASSING: ReadonlySet<number> = new Set([2, 4, 8, 10, 13, 14]);

function reasonAway(error: unknown): string | null {
  if (!isGrpcServiceError(error) || !PASSING.has(error.code)) return null;
  return error.details === '' ? error.message : error.details;
}
