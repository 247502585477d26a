import { setTimeout as pause } from 'node:timers/promises';
import { draw } from '../../src/testing/simulated-model';

// Faults of a process that stays alive: a store that stalls, fails or refuses, and a clock that jumps.

/** Share of a store's operations that meets a fault. */
const TROUBLED = 0.04;
/** Longer than a heartbeat timeout of 5 s. */
export const STALL_MS = 7_000;
const KINDS = ['stall', 'fail', 'refuse'] as const;

/** Returns a function to call before each operation of a store: it returns, waits or throws, as the seed decides. */
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

/** Makes this process's clock jump back and forth by up to an hour until the process ends. */
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
