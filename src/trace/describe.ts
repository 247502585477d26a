import type { SolveTrace } from '../protocol/solve';

/** `3 calls, 1,204 tokens`. */
export function describeTokens({ usage }: Pick<SolveTrace, 'usage'>): string {
  const tokens = (usage.inputTokens + usage.outputTokens).toLocaleString('en-US');
  return `${usage.calls} ${usage.calls === 1 ? 'call' : 'calls'}, ${tokens} tokens`;
}

/** `$0.0012`, or `at least $0.0012` while some call's cost is unknown. */
export function describeCost({
  costUsd,
  costIsLowerBound,
}: Pick<SolveTrace, 'costUsd' | 'costIsLowerBound'>): string {
  const dollars = `$${costUsd.toFixed(costUsd >= 1 || costUsd === 0 ? 2 : 4)}`;
  return costIsLowerBound ? `at least ${dollars}` : dollars;
}
