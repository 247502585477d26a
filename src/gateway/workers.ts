import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { isPolled } from '../client/pollers';
import { Refusal } from './refusal';

/** One that was seen is believed to be there for so long. */
const BELIEVED_MS = 10_000;
/** A worker that has just been started is waited for, with looks in between. */
const LOOKS = 10;
const LOOK_MS = 300;
const BACK_SECONDS = 5;

/** Knows whether a worker is there to do what is asked, without a look for each request. */
export class Workers {
  #seenAt = -Infinity;

  constructor(
    private readonly temporal: Client,
    private readonly taskQueue: string,
  ) {}

  async areThere(): Promise<boolean> {
    if (Date.now() - this.#seenAt < BELIEVED_MS) return true;
    if (!(await isPolled(this.temporal, this.taskQueue))) return false;
    this.#seenAt = Date.now();
    return true;
  }

  /** @throws Refusal where none is there for some seconds: a request would wait for no one knows how long */
  async require(): Promise<void> {
    for (let looks = 0; looks < LOOKS; looks += 1) {
      if (await this.areThere()) return;
      await pause(LOOK_MS);
    }
    const message = `no worker polls task queue ${this.taskQueue}: start "temporal-conductor worker", and try again`;
    throw new Refusal(503, message, { reason: 'no_worker', retryAfterSeconds: BACK_SECONDS });
  }
}
