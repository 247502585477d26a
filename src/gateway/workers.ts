import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { readQueue, whyRunsWait } from '../client';
import { Refusal } from './refusal';

/** How long a found worker is assumed to poll, and how long a miss limits `require` to one attempt. */
const BELIEVED_MS = 10_000;
/** Attempts to find a worker, as one may have just been started. */
const LOOKS = 10;
const LOOK_MS = 300;
const BACK_SECONDS = 5;

/** Checks whether a worker takes new runs of the task queue; a cache spares most requests the lookup. */
export class Workers {
  private seenAt = -Infinity;
  private missedAt = -Infinity;
  /** Why a new run would wait for a worker, as last seen. */
  private problem = '';

  constructor(
    private readonly temporal: Client,
    private readonly taskQueue: string,
  ) {}

  async areThere(): Promise<boolean> {
    if (Date.now() - this.seenAt < BELIEVED_MS) return true;
    const { temporal, taskQueue } = this;
    const queue = await readQueue(temporal, taskQueue);
    const remedy = 'start "temporal-conductor worker", and try again';
    const problem =
      queue.pollers.length === 0
        ? `no worker polls task queue ${taskQueue}: ${remedy}`
        : whyRunsWait(taskQueue, queue);
    this.problem = problem ?? '';
    if (problem === null) this.seenAt = Date.now();
    return problem === null;
  }

  /** @throws Refusal if no worker appears within a few seconds: the request would wait indefinitely */
  async require(): Promise<void> {
    const isMissed = Date.now() - this.missedAt < BELIEVED_MS;
    for (let looks = isMissed ? 1 : LOOKS; looks > 0; looks -= 1) {
      if (await this.areThere()) return;
      if (looks > 1) await pause(LOOK_MS);
    }
    this.missedAt = Date.now();
    throw new Refusal(503, this.problem, { reason: 'no_worker', retryAfterSeconds: BACK_SECONDS });
  }
}
