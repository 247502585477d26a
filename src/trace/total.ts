import type { Call } from '../protocol/call';
import type { SolveTrace } from '../protocol/solve';

/** What a number of calls came to. */
export type Total = Pick<SolveTrace, 'usage' | 'costUsd' | 'costIsLowerBound'>;

/** Adds calls up. What is unknown of a call counts as nothing, and makes the cost a lower bound. */
export function totalOf(calls: readonly Call[]): Total {
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
