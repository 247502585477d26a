import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { isPolled } from '../client/pollers';
import { Refusal } from './refusal';

/** What was found, or was not, is believed for so long. */
const BELIEVED_MS = 10_000;
/** A worker that has just been started is waited for, with looks in between. */
const LOOKS = 10;
const LOOK_MS = 300;
const BACK_SECONDS = 5;

/** Knows whether a worker is there to do what is asked, without a look for each request. */
export class Workers {
  #seenAt = -Infinity;
  #missedAt = -Infinity;

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
    const isMissed = Date.now() - this.#missedAt < BELIEVED_MS;
    for (let looks = isMissed ? 1 : LOOKS; looks > 0; looks -= 1) {
      if (await this.areThere()) return;
      if (looks > 1) await pause(LOOK_MS);
    }
    this.#missedAt = Date.now();
    const message = `no worker polls task queue ${this.taskQueue}: start "temporal-conductor worker", and try again`;
    throw new Refusal(503, message, { reason: 'no_worker', retryAfterSeconds: BACK_SECONDS });
  }
}
