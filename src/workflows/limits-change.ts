import type { HeldLimits, LimitsChange } from '../protocol/control';
import type { RunLimits } from '../protocol/run';

/** A change of limits as runs calculate with it: in nano-USD. */
export function runLimitsOf({ costUsd, ...change }: LimitsChange): Partial<RunLimits> {
  if (costUsd === undefined) return change;
  return { ...change, nanoUsd: costUsd === null ? null : Math.round(costUsd * 1e9) };
}

/** The limits of a run as its operator is told them. */
export function heldLimitsOf({ steps, depth, calls, tokens, nanoUsd, wallClockMs }: RunLimits): HeldLimits {
  return { steps, depth, calls, tokens, costUsd: nanoUsd === null ? null : nanoUsd / 1e9, wallClockMs };
}
