import { draw } from '../../../src/testing/draw';
import type { Victim } from './scene';

/** One `kill -9`, due when the n-th request has come to the world's workers. */
export interface PlannedKill {
  readonly victim: Victim;
  readonly request: number;
}

const VICTIMS: readonly Victim[] = ['worker', 'step', 'policy server', 'trainer', 'server'];

/** The kills of a seed: each victim in its turn, the moments spread over the first requests of the night. */
export function drawKills(seed: number, kills: number, requests: number): PlannedKill[] {
  return Array.from({ length: kills }, (_, index) => ({
    victim: VICTIMS[index % VICTIMS.length] ?? 'worker',
    request: 1 + Math.floor(((index + draw(seed, 'when', index)) / kills) * requests),
  }));
}
