import type { SolveResult } from '../protocol/solve';

/** Tokens of a solve, all its calls together; the others are parts of the first two. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly reasoning: number;
  /** Of the Conductor's own calls, which write and review plans. */
  readonly orchestrationInput: number;
  readonly orchestrationOutput: number;
}

export function tokensOf({ calls, usage }: Pick<SolveResult, 'calls' | 'usage'>): Tokens {
  const [cached, reasoning, orchestrationInput, orchestrationOutput] = [0, 0, 0, 0];
  const sum = { cached, reasoning, orchestrationInput, orchestrationOutput };
  for (const call of calls) {
    sum.cached += call.usage?.cachedInputTokens ?? 0;
    sum.reasoning += call.usage?.reasoningTokens ?? 0;
    if (call.purpose === 'step') continue;
    sum.orchestrationInput += call.usage?.inputTokens ?? 0;
    sum.orchestrationOutput += call.usage?.outputTokens ?? 0;
  }
  return { input: usage.inputTokens, output: usage.outputTokens, ...sum };
}

/** `cost` in USD, as OpenRouter has it; it is a lower bound where some call's cost is unknown. */
export function costOf({ costUsd, costIsLowerBound }: SolveResult) {
  return { cost: costUsd, cost_details: { is_lower_bound: costIsLowerBound } };
}

/**
 * Headers of an answer that is whole: the solve, and what LiteLLM books of a target that it passes requests to
 * (https://docs.litellm.ai/docs/proxy/pass_through_cost_tracking).
 */
export function headersOf(result: SolveResult): Record<string, string> {
  return {
    ...solveHeader(result.id),
    'x-litellm-response-cost': String(result.costUsd),
    'x-litellm-total-tokens': String(result.usage.inputTokens + result.usage.outputTokens),
  };
}

export function solveHeader(id: string): Record<string, string> {
  return { 'x-conductor-solve': id };
}
