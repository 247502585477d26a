import { setTimeout as delay } from 'node:timers/promises';
import { draw } from '../../src/testing/simulated-model';
import type { Kill } from './evidence';

const LOOK_MS = 5;

/** Kills of a seed, which come due as the progress of a run is reached. */
interface Strikes<Victim> {
  readonly seed: number;
  readonly kills: number;
  /** Order of the victims. */
  readonly cycle: readonly [Victim, ...Victim[]];
  /** Progress by which the last kill is due. */
  readonly last: number;
  /** Longest time from the progress that makes a kill due to the kill. */
  readonly lateMs: number;
  readonly progress: () => number;
  /** Returns false if there is no such process at the moment. */
  readonly kill: (victim: Victim) => Promise<boolean>;
}

/**
 * Carries out the kills one after the other. One that is due is carried out even if all is over by then: on a busy
 * machine, the successor of the victim before may have taken longer than the rest of the run.
 */
export async function strike<Victim extends Kill['victim']>(
  { seed, kills, cycle, last, lateMs, progress, kill }: Strikes<Victim>,
  over: AbortSignal,
): Promise<Kill[]> {
  const planned = Array.from({ length: kills }, (_, index) => ({
    victim: cycle[index % cycle.length] ?? cycle[0],
    due: 1 + Math.floor(draw(seed, 'due', index) * last),
    waitMs: draw(seed, 'late', index) * lateMs,
  })).sort((a, b) => a.due - b.due);
  const done: Kill[] = [];
  for (const { victim, due, waitMs } of planned) {
    while (progress() < due && !over.aborted) await delay(LOOK_MS);
    if (progress() < due) break;
    await delay(waitMs);
    for (;;) {
      const at = performance.timeOrigin + performance.now();
      const isKilled = await kill(victim);
      if (isKilled) done.push({ victim, at });
      if (isKilled || over.aborted) break;
      await delay(LOOK_MS);
    }
  }
  return done;
}
