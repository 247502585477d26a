import { describeUsd, stepStateOf } from '../../../src/trace/describe';
import type { Round, Solve } from '../api/types';
import type { MarkedState } from '../parts/state-mark';

/** Returns the state of a step; one that ran when its solve ended was cancelled. */
export function markOf({ status }: Pick<Solve, 'status'>, round: Round, index: number): MarkedState {
  const result = round.steps[index];
  const state = result === undefined ? 'waiting' : stepStateOf(result);
  return state === 'running' && status !== 'running' ? 'cancelled' : state;
}

/** Price of some calls, in words; null if nothing was paid. */
export function priceOf(calls: Solve['calls']): string | null {
  const nanoUsd = calls.reduce((sum, call) => sum + (call.nanoUsd ?? 0), 0);
  return nanoUsd === 0 ? null : describeUsd(nanoUsd / 1e9);
}
