import type { Plan } from './plan';

/**
 * The wave of each step: 0 where it sees nothing, else one more than the latest wave it sees.
 *
 * Waves are for people who look at a plan. A run need not wait for a whole wave: a step can start as soon as all that
 * it sees is done.
 */
export function planWaves({ steps }: Plan): number[] {
  const waves: number[] = [];
  for (const { sees } of steps) waves.push(Math.max(-1, ...sees.map((seen) => waves[seen] ?? -1)) + 1);
  return waves;
}
