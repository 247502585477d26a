import type { RunWorker } from '../protocol/run';
import { randomFrom, shuffled } from './seeds';
import type { PoolSettings } from './training-settings';

/** Of which group the workers are, and how they are drawn. */
export interface WorkerDraw {
  readonly seed: number;
  readonly cycle: number;
  readonly draw: number;
  readonly pool: PoolSettings;
}

/**
 * The workers of one group, in the order of its prompt: a worker's place in it is the ordinal that plans call it by.
 *
 * With `adaptive`, each number of workers from `least` to all of them is as likely as any other, and so is each subset
 * of that size (paper section 3.2, which leaves the distribution open); a fallback outside the subset is left out. A
 * subset that is held out is put back, and another drawn: all workers together never are, so there is an end to it. With
 * `permuteIds` their order is drawn, too, so that a policy must read who is who instead of learning ordinals by heart;
 * else they keep the order of the configuration.
 */
export function drawWorkers(
  workers: readonly RunWorker[],
  { seed, cycle, draw, pool }: WorkerDraw,
): RunWorker[] {
  const random = randomFrom(seed, 'workers', cycle, draw);
  let chosen: readonly RunWorker[];
  do chosen = drawTeam(workers, pool, random);
  while (pool.adaptive && isHeldOut(chosen, workers, pool));
  const ids = new Set(chosen.map(({ id }) => id));
  const present = pool.permuteIds ? chosen : workers.filter(({ id }) => ids.has(id));
  return present.map((worker) => ({ ...worker, fallback: worker.fallback.filter((id) => ids.has(id)) }));
}

function drawTeam(
  workers: readonly RunWorker[],
  pool: PoolSettings,
  random: () => number,
): readonly RunWorker[] {
  const order = shuffled(workers, random);
  if (!pool.adaptive) return order;
  const least = Math.min(Math.max(pool.least, 1), workers.length);
  return order.slice(0, least + Math.floor(random() * (workers.length - least + 1)));
}

function isHeldOut(
  team: readonly RunWorker[],
  { length: all }: readonly RunWorker[],
  { heldOut = [] }: PoolSettings,
): boolean {
  const isTeam = (ids: readonly string[]): boolean =>
    ids.length === team.length && team.every(({ id }) => ids.includes(id));
  return team.length < all && heldOut.some(isTeam);
}
