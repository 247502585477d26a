import type { Call, SolveTrace } from '../protocol/solve';

/** Sums calls. Unknown amounts count as 0; an unknown cost makes the sum a lower bound. */
export function totalOf(calls: readonly Call[]): Pick<SolveTrace, 'usage' | 'costUsd' | 'costIsLowerBound'> {
  const sum = (amountOf: (call: Call) => number): number =>
    calls.reduce((total, call) => total + amountOf(call), 0);
  return {
    usage: {
      inputTokens: sum((call) => call.usage?.inputTokens ?? 0),
      outputTokens: sum((call) => call.usage?.outputTokens ?? 0),
      calls: calls.length,
    },
    costUsd: sum((call) => call.nanoUsd ?? 0) / 1e9,
    costIsLowerBound: calls.some((call) => call.nanoUsd === null),
  };
}

/** Whether it is the Conductor's own call, which writes a plan or reads an answer. */
export function isPlanning({ step }: Pick<Call, 'step'>): boolean {
  return step === null;
}

type Cost = Pick<SolveTrace, 'costUsd' | 'costIsLowerBound'>;

/** Returns the known cost of a run in nano-USD: a lower bound, so that nothing may be decided from it. */
export function knownNanoUsd({ costUsd }: Pick<Cost, 'costUsd'>): number {
  return Math.round(costUsd * 1e9);
}

/**
 * Returns the most that an ended run may have cost, in nano-USD, for every decision about money. An unknown part counts
 * as all that the run was granted. @param trace null: the run left none
 */
export function mostSpent(trace: Cost | null, grantedNanoUsd: number): number {
  if (trace === null) return grantedNanoUsd;
  const known = knownNanoUsd(trace);
  return trace.costIsLowerBound ? Math.max(known, grantedNanoUsd) : known;
}
