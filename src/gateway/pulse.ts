import { setTimeout as pause } from 'node:timers/promises';
import { randomPart } from '../client';
import { DAY_MS } from '../config/duration';
import type { Store } from '../store/store';

/** Entries that gateways change while they live; one that was not for a day is of a process that is gone. */
export const PULSES = { folder: 'gateway/pulses/', lifeMs: DAY_MS };

const BEAT_MS = 2_000;
/** Silence after which a gateway counts as dead: three beats. */
const SILENCE_MS = 3 * BEAT_MS;
const LOOK_MS = 200;

const placeOf = (gateway: string): string => `${PULSES.folder}${gateway}`;

/**
 * Tells other gateways that this process lives, for as long as it matters to them. Whoever asks waits for the next beat,
 * so that no clock of two machines is compared.
 */
export class Pulse {
  /** Name of this process, which no other has, before or after it. */
  readonly gateway = randomPart(12);
  private beats = 0;
  private needs = 0;
  private beating: NodeJS.Timeout | undefined;

  constructor(private readonly store: Store) {}

  /** Beats until the returned function is called. */
  keep(): () => void {
    this.needs += 1;
    this.beating ??= setInterval(() => void this.beat(), BEAT_MS).unref();
    return () => {
      this.needs -= 1;
      if (this.needs > 0) return;
      clearInterval(this.beating);
      this.beating = undefined;
    };
  }

  /** Waits for a beat of another gateway. Returns false if none comes. */
  async isBeating(gateway: string): Promise<boolean> {
    const before = await this.store.read(placeOf(gateway));
    for (let waitedMs = 0; waitedMs < SILENCE_MS; waitedMs += LOOK_MS) {
      await pause(LOOK_MS);
      const now = await this.store.read(placeOf(gateway));
      if (now !== null && before?.equals(now) !== true) return true;
    }
    return false;
  }

  private async beat(): Promise<void> {
    this.beats += 1;
    // One beat that fails is made up for by the next.
    await this.store.write(placeOf(this.gateway), Buffer.from(String(this.beats))).catch(() => undefined);
  }
}
