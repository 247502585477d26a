import { setTimeout as pause } from 'node:timers/promises';
import { draw } from '../../../src/testing/simulated-model';

// Troubles of a process that nobody kills: a store that stalls, fails or refuses, and a clock that is set.

/** The share of a store's operations that meets trouble. */
const TROUBLED = 0.04;
/** Longer than a heartbeat time-out of 5 s. */
export const STALL_MS = 7_000;
const KINDS = ['stall', 'fail', 'refuse'] as const;

/** @returns what to do before each operation of a store: nothing, wait, or throw, as the seed has it */
export function troubleOf(seed: number): () => Promise<void> {
  let operations = 0;
  return async () => {
    operations += 1;
    if (draw(seed, 'store', operations) >= TROUBLED) return;
    const kind = KINDS[Math.floor(draw(seed, 'kind', operations) * KINDS.length)];
    if (kind === 'stall') await pause(STALL_MS);
    else if (kind === 'fail') throw Object.assign(new Error('EIO: i/o error, chaos'), { code: 'EIO' });
    else throw Object.assign(new Error('EACCES: permission denied, chaos'), { code: 'EACCES' });
  };
}

const JUMP_EVERY_MS = 3_000;
const HOUR_MS = 3_600_000;

/** Lets this process's clock jump by up to an hour, to and fro, for as long as it lives. */
export function letClockJump(seed: number): void {
  const RealDate = Date;
  let [offset, jumps] = [0, 0];
  globalThis.Date = class extends RealDate {
    constructor(...given: readonly unknown[]) {
      super(...((given.length === 0 ? [RealDate.now() + offset] : given) as [number]));
    }

    static override now(): number {
      return RealDate.now() + offset;
    }
  } as DateConstructor;
  setInterval(() => {
    jumps += 1;
    offset = Math.round((2 * draw(seed, 'clock', jumps) - 1) * HOUR_MS);
  }, JUMP_EVERY_MS).unref();
}
