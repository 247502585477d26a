import { setTimeout } from 'node:timers/promises';
import { readNight } from '../../../src/training/activities/records';
import type { NightRecord } from '../../../src/training/records';
import { TRAIN_RUN } from '../../../test/support/lesson';
import { isFlat } from './flat';
import type { Town } from './town';

/** Cycles between two looks at what was learned. */
const EVERY = 10;
/** No look is worth much while a night has only begun. */
const LEAST_SHARE = 0.4;
const POLL_MS = 1_000;

/** What somebody who follows a night does. */
export interface Follower {
  /** Tries the checkpoint that the night has come to, and returns its ratio. */
  readonly look: (night: NightRecord) => Promise<number>;
}

/** Follows a night to its end, looking in every few cycles; tells it to stop once nothing more is gained. */
export async function followNight(town: Town, date: string, { look }: Follower): Promise<NightRecord> {
  const looks: number[] = [];
  let isStopped = false;
  for (;;) {
    const night = await readNight(town.store, TRAIN_RUN, date);
    if (night !== null && night.closedAt !== null) return night;
    if (night !== null && night.done >= (looks.length + 1) * EVERY) {
      looks.push(await look(night));
      if (!isStopped && night.done >= LEAST_SHARE * night.last && isFlat(looks)) {
        await town.command('train', 'stop');
        isStopped = true;
      }
    }
    await setTimeout(POLL_MS);
  }
}
