import type { RunWorker } from '../protocol/run';
import { randomFrom, shuffled } from './seeds';
import type { TrainingSettings } from './training-settings';

/** Of which group the workers are, and how they are drawn. */
export interface WorkerDraw {
  readonly seed: number;
  readonly cycle: number;
  readonly draw: number;
  readonly pool: TrainingSettings['pool'];
}

/**
 * The workers of one group, in the order of its prompt: a worker's place in it is the ordinal that plans call it by.
 *
 * With `adaptive`, each number of workers from `least` to all of them is as likely as any other, and so is each subset
 * of that size (paper section 3.2, which leaves the distribution open); a fallback outside the subset is left out. With
 * `permuteIds` their order is drawn, too, so that a policy must read who is who instead of learning ordinals by heart;
 * else they keep the order of the configuration.
 */
export function drawWorkers(
  workers: readonly RunWorker[],
  { seed, cycle, draw, pool }: WorkerDraw,
): RunWorker[] {
  const random = randomFrom(seed, 'workers', cycle, draw);
  const order = shuffled(workers, random);
  const least = Math.min(Math.max(pool.least, 1), workers.length);
  const size = pool.adaptive ? least + Math.floor(random() * (workers.length - least + 1)) : workers.length;
  const chosen = new Set(order.slice(0, size));
  const present = (pool.permuteIds ? order : workers).filter((worker) => chosen.has(worker));
  const ids = new Set(present.map(({ id }) => id));
  return present.map((worker) => ({ ...worker, fallback: worker.fallback.filter((id) => ids.has(id)) }));
}
