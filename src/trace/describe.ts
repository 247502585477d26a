import type { SolveTrace } from '../protocol/solve';
import { counted } from './counted';

/** `3 calls, 1,204 tokens`. */
export function describeTokens({ usage }: Pick<SolveTrace, 'usage'>): string {
  return describeAmount(usage.calls, usage.inputTokens + usage.outputTokens);
}

/** `$0.0012`, or `at least $0.0012` while some call's cost is unknown. */
export function describeCost({
  costUsd,
  costIsLowerBound,
}: Pick<SolveTrace, 'costUsd' | 'costIsLowerBound'>): string {
  const dollars = describeUsd(costUsd);
  return costIsLowerBound ? `at least ${dollars}` : dollars;
}

/** `at most 9 calls, 40,000 tokens, $0.1200`: what a plan may come to, told before its first step. */
export function describeEstimate(estimate: NonNullable<SolveTrace['estimate']>): string {
  const { calls, tokens, nanoUsd, ownSteps = 0 } = estimate;
  const cost = nanoUsd === null ? 'cost unknown' : describeUsd(nanoUsd / 1e9);
  const beside =
    ownSteps === 0 ? '' : `, beside what the Conductor makes of its own ${ownSteps === 1 ? 'step' : 'steps'}`;
  return `at most ${describeAmount(calls, tokens)}, ${cost}${beside}`;
}

/** `$0.0012`, `$1.50`: with as many digits as matter. */
export function describeUsd(usd: number): string {
  return `$${usd.toFixed(usd >= 1 || usd === 0 ? 2 : 4)}`;
}

function describeAmount(calls: number, tokens: number): string {
  return `${counted(calls, 'call')}, ${tokens.toLocaleString('en-US')} tokens`;
}
