import { draw } from '../../../src/testing/simulated-model';
import { randomFrom, shuffled } from '../../../src/training/draw';
import type { Victim } from './scene';

/** One `kill -9`, due when the n-th request has come to the world's workers. */
export interface PlannedKill {
  readonly victim: Victim;
  readonly request: number;
}

const VICTIMS: readonly Victim[] = ['worker', 'step', 'policy server', 'trainer', 'server'];

/**
 * The kills of a seed: every victim before any comes again, in an order of the seed's, at moments spread over the first
 * requests of the night.
 */
export function drawKills(seed: number, kills: number, requests: number): PlannedKill[] {
  const random = randomFrom(seed, 'victims');
  const rounds = Array.from({ length: Math.ceil(kills / VICTIMS.length) }, () => shuffled(VICTIMS, random));
  return rounds
    .flat()
    .slice(0, kills)
    .map((victim, index) => ({
      victim,
      request: 1 + Math.floor(((index + draw(seed, 'when', index)) / kills) * requests),
    }));
}
