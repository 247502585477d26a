import { setTimeout as pause } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import { durationMs } from '../config/field-schemas';
import type { Say } from '../local/configured-server';
import type { SolveResult } from '../protocol/solve';
import type { Session } from './session';

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
  const outage = new Outage(address, patience, tell);
  for (;;) {
    const traces = conductor.watch(id);
    try {
      for (;;) {
        const next = await whileLooking(traces.next(), temporal, outage);
        outage.end();
        if (next.done === true) return;
        yield next.value;
      }
    } catch (error) {
      const reason = reasonAway(error);
      if (reason === null) throw error;
      outage.note(reason);
      await pause(AGAIN_MS);
    }
  }
}

/** Prints once that a server is away, and once that it is back. */
class Outage {
  private since: number | null = null;

  constructor(
    private readonly address: string,
    private readonly patience: string,
    private readonly tell: Say,
  ) {}

  /** @throws Error where it has lasted too long */
  note(reason: string): void {
    const { address, patience } = this;
    if (this.since === null) {
      this.tell(`Temporal at ${address} does not answer (${reason}): waiting for it, ${patience} at most.`);
      this.since = Date.now();
    } else if (Date.now() - this.since > durationMs(patience)) {
      throw new Error(`Temporal at ${address} has not answered for ${patience} (${reason})`);
    }
  }

  end(): void {
    if (this.since !== null) this.tell(`Temporal at ${this.address} answers again.`);
    this.since = null;
  }
}

/** A poll waits a minute for news, and minutes more on a connection whose other end has vanished. */
async function whileLooking<Value>(
  news: Promise<Value>,
  { workflowService }: Client,
  outage: Outage,
): Promise<Value> {
  const over = new AbortController();
  const isOver = (): boolean => over.signal.aborted;
  const look = async (): Promise<never> => {
    for (;;) {
      await pause(LOOK_MS, undefined, { ref: false });
      if (isOver()) break;
      const answer = workflowService.getSystemInfo({}).then(() => null, reasonAway);
      const late = pause(LOOK_MS, `nothing within ${LOOK_MS / 1000} s`, { ref: false });
      const reason = await Promise.race([answer, late]);
      if (isOver()) break;
      if (reason === null) outage.end();
      else outage.note(reason);
    }
    return new Promise<never>(() => undefined);
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

function reasonAway(error: unknown): string | null {
  if (!isGrpcServiceError(error) || !PASSING.has(error.code)) return null;
  return error.details === '' ? error.message : error.details;
}
