import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { pollersOf } from '../client/pollers';
import { reasonOf } from '../reason-of';
import { UsageError } from './exit-code';
import type { Session } from './session';
import type { RunningWorker } from './start-worker';

/** Whether a worker works, and a word on it. */
export interface Health {
  readonly healthy: boolean;
  readonly state: string;
}

/**
 * Answers on a port of every address of this machine: 200 while the worker polls for work, 503 with the reason when it
 * does not. A process that hangs answers nothing at all, so whoever asks needs a time-out.
 *
 * @throws UsageError where the port cannot be had
 */
export async function serveHealth(
  port: number,
  { worker, temporal, config }: Pick<Session, 'worker' | 'temporal' | 'config'>,
): Promise<{ readonly url: string; close(): void }> {
  if (worker === null) throw new Error('without a worker there is no health to tell of');
  const look = watchPolls(worker, temporal, config.temporal.taskQueue);
  const server = createServer((_, response) => {
    void look().then((health) => {
      response.writeHead(health.healthy ? 200 : 503, { 'content-type': 'application/json' });
      response.end(`${JSON.stringify(health)}\n`);
    });
  });
  server.listen(port);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new UsageError(`--health ${port} cannot be had (${reasonOf(error)}): name another port`);
  }
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A server that was started anew knows of no poll until the pollers have found it. */
const UNSEEN_MS = 2 * 60_000;

/**
 * Looks at a worker from both ends: its own state, and the polls that have reached the server. While the server does
 * not answer, only the former counts: a worker is there again by itself when the server is, and one that is started
 * anew meanwhile would lose the calls under way.
 */
export function watchPolls(
  { identity, status }: Pick<RunningWorker, 'identity' | 'status'>,
  temporal: Client,
  taskQueue: string,
  now: () => number = Date.now,
): () => Promise<Health> {
  let unseenSince: number | null = null;
  return async () => {
    const { runState, workflowPollerState: workflows, activityPollerState: activities } = status();
    if (runState !== 'RUNNING') return { healthy: false, state: `the worker is ${runState.toLowerCase()}` };
    if (workflows !== 'POLLING' || activities !== 'POLLING') {
      return { healthy: false, state: `polling for workflows: ${workflows}, for activities: ${activities}` };
    }
    // A worker's own connection tries again for longer than any deadline.
    const known = await Promise.race([
      pollersOf(temporal, taskQueue).catch(() => null),
      pause(ANSWER_MS, null, { ref: false }),
    ]);
    const isMissing = known?.some((poller) => poller.identity === identity) === false;
    unseenSince = isMissing ? (unseenSince ?? now()) : null;
    if (known === null) return { healthy: true, state: 'polling; Temporal does not answer' };
    if (unseenSince === null || now() - unseenSince < UNSEEN_MS) return { healthy: true, state: 'polling' };
    return { healthy: false, state: 'for minutes, no poll of this worker has reached Temporal' };
  };
}

/** Less than a probe waits, as Docker and Kubernetes are mostly told to. */
const ANSWER_MS = 1_000;
