import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { ConductorClient, SolveRequest, SolveResult } from '../../src';
import { Turns } from '../../src/runtime/turns';
import { isCancelled, WALL_CLOCK_MS } from './scenario';

/** Solves under way at the same time. */
const AT_ONCE = 12;
/** Time after its wall clock in which a run must report its end, through a server that may be starting. */
const GRACE_MS = 60_000;

/** Access to the solves: the product's client, and the Temporal client below it. */
export interface Asker {
  readonly conductor: ConductorClient;
  readonly temporal: Client;
}

export interface Asking {
  readonly live: boolean;
  readonly onStart: (id: string) => void;
  readonly onEnd: () => void;
}

/**
 * Asks every question, a few at a time, and gets each trace once its run has ended or should have. A run that the
 * server does not know is null.
 */
export async function askAll(
  asker: Asker,
  questions: ReadonlyMap<string, string>,
  { live, onStart, onEnd }: Asking,
): Promise<Map<string, SolveResult | null>> {
  const turns = new Turns(AT_ONCE);
  const runs = [...questions].map(([id, question]) =>
    turns.take(async () => {
      const run = await ask(asker, id, { question, ...(live && { live: true as const }) }, onStart);
      onEnd();
      return [id, run] as const;
    }),
  );
  return new Map(await Promise.all(runs));
}

async function ask(
  { conductor, temporal }: Asker,
  id: string,
  request: SolveRequest,
  onStart: (id: string) => void,
): Promise<SolveResult | null> {
  const handle = temporal.workflow.getHandle(id);
  const isKnown = () => persist(() => ifKnown(handle.describe()));
  await persist(async () => {
    // The run may have started although the reply was lost.
    if ((await isKnown()) === null) await conductor.start(request, id);
  });
  onStart(id);
  if (isCancelled(id)) await cancelBesideMessages(conductor, id);
  const ended = persist(() => handle.result()).catch(() => undefined);
  const patience = new AbortController();
  const limit = delay(WALL_CLOCK_MS + GRACE_MS, undefined, patience).catch(() => undefined);
  await Promise.race([ended, limit]);
  patience.abort();
  return (await isKnown()) === null ? null : persist(() => conductor.trace(id));
}

/** Cancels a run after its first call, and sends it messages at the same moment. */
async function cancelBesideMessages(conductor: ConductorClient, id: string): Promise<void> {
  for (;;) {
    const { status, calls } = await persist(() => conductor.trace(id));
    if (status !== 'running' || calls.length > 0) break;
    await delay(50);
  }
  // A run that has ended refuses them.
  await Promise.allSettled([
    persist(() => conductor.addHint(id, 'Too late.')),
    persist(() => conductor.cancel(id)),
    persist(() => conductor.setMaxDepth(id, 0)),
    persist(() => conductor.setLimits(id, { calls: 20 })),
  ]);
}

async function ifKnown<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

const PAUSE_MS = 250;

/** gRPC codes of an unavailable server: CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE. */
const AWAY = new Set<unknown>([1, 2, 4, 13, 14]);

/** Retries something for as long as the Temporal server is unavailable, as its users would. */
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
