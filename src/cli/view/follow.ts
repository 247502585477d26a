import { setTimeout as pause } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import { durationMs } from '../../config/duration';
import type { Say } from '../../local/configured-server';
import type { SolveResult } from '../../protocol/solve';
import { unlessInterrupted } from '../interruption';
import { watchForMissingWorker } from '../queues';
import type { Session } from '../session';
import type { View } from './open-view';

interface Followed<State, Aside> {
  /** Grows until what is followed has ended. */
  readonly states: AsyncIterator<State>;
  readonly view: View<State>;
  /** Ends the following before that. */
  readonly aside?: Promise<Aside>;
}

/**
 * Shows a workflow until it has ended, and says which workers it waits for.
 *
 * @returns its last state, or what came aside; null after Ctrl-C
 * @throws what it failed with; Error when the command's own worker breaks down
 */
export async function follow<State, Aside = never>(
  session: Session,
  workflowId: string,
  interruption: AbortSignal,
  { states, view, aside }: Followed<State, Aside>,
): Promise<State | Aside | undefined | null> {
  const stopLooking = watchForMissingWorker(session, workflowId);
  const ended = aside?.then((value) => ({ done: true as const, value }));
  const others = [breakdownOf(session.worker?.ended), ...(ended === undefined ? [] : [ended])];
  let last: State | undefined;
  try {
    for (;;) {
      const next = await unlessInterrupted(interruption, Promise.race([states.next(), ...others]));
      if (next === undefined) return null;
      if (next.done === true) return (next.value as Aside | undefined) ?? last;
      last = next.value;
      view.show(last);
    }
  } finally {
    stopLooking();
    view.close();
  }
}

/** Looks at something under way every second, until there is nothing more to see. */
export async function* lookAgain<State>(
  look: () => Promise<State | null | undefined>,
): AsyncGenerator<State> {
  for (;;) {
    const seen = await look();
    if (seen === null) return;
    if (seen !== undefined) yield seen;
    await pause(1_000, undefined, { ref: false });
  }
}

/** Rejects when a command's own worker breaks down; else it never settles. */
export async function breakdownOf(ended = new Promise<void>(() => undefined)): Promise<never> {
  await ended;
  throw new Error('the worker of this command stopped working');
}

const AGAIN_MS = 1_000;
/** Between two looks whether the server is there, and how long one may take. */
const LOOK_MS = 5_000;

/**
 * The trace of a run as it grows, also when the server is away meanwhile, which is told.
 *
 * @param patience longer than a server takes to be started elsewhere, and shorter than a script should hang
 * @throws Error with the reason where it stays away
 */
export async function* followPatiently(
  { conductor, server: { address }, temporal }: Pick<Session, 'conductor' | 'server' | 'temporal'>,
  id: string,
  tell: Say,
  patience = '5m',
): AsyncGenerator<SolveResult> {
  let awaySince: number | null = null;
  for (;;) {
    const traces = conductor.watch(id);
    try {
      for (;;) {
        const next = await unlessSilent(traces.next(), temporal);
        if (awaySince !== null) tell(`Temporal at ${address} answers again.`);
        awaySince = null;
        if (next.done === true) return;
        yield next.value;
      }
    } catch (error) {
      const reason = reasonAway(error);
      if (awaySince === null)
        tell(`Temporal at ${address} does not answer (${reason}): waiting for it, ${patience} at most.`);
      awaySince ??= Date.now();
      if (Date.now() - awaySince > durationMs(patience))
        throw new Error(`Temporal at ${address} has not answered for ${patience} (${reason})`, {
          cause: error,
        });
      await pause(AGAIN_MS);
    }
  }
}

class SilentError extends Error {}

/** A poll waits a minute for news, and minutes more on a connection whose other end has vanished. */
async function unlessSilent<Value>(news: Promise<Value>, { workflowService }: Client): Promise<Value> {
  const over = new AbortController();
  const look = async (): Promise<never> => {
    for (;;) {
      await pause(LOOK_MS, undefined, { signal: over.signal });
      const answer = workflowService.getSystemInfo({}).then(() => null, reasonAway);
      const late = pause(LOOK_MS, `nothing within ${LOOK_MS / 1000} s`, { signal: over.signal });
      const reason = await Promise.race([answer, late]);
      if (reason !== null) throw new SilentError(reason);
    }
  };
  try {
    return await Promise.race([news, look()]);
  } finally {
    over.abort();
  }
}

/**
 * gRPC's CANCELLED (so the native part says that a connection was closed, e.g. by a proxy whose server is away), UNKNOWN,
 * DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL and UNAVAILABLE: it may be otherwise next time.
 */
const PASSING: ReadonlySet<number> = new Set([1, 2, 4, 8, 10, 13, 14]);

/** @throws the error where it is no such one */
function reasonAway(error: unknown): string {
  if (error instanceof SilentError) return error.message;
  if (!isGrpcServiceError(error) || !PASSING.has(error.code)) throw error;
  return error.details === '' ? error.message : error.details;
}
