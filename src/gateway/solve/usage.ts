import type { Call, SolveResult, Usage } from '../../protocol/solve';

/** Token counts of a solve over all its calls; the other counts are parts of the first two. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly cacheWritten: number;
  readonly reasoning: number;
  /** Input tokens of the Conductor's own calls, which write and review plans. */
  readonly orchestrationInput: number;
  readonly orchestrationOutput: number;
}

export function tokensOf({
  calls,
  usage: { inputTokens: input, outputTokens: output },
}: SolveResult): Tokens {
  const orchestrating = calls.filter(({ purpose }) => purpose !== 'step');
  return {
    input,
    output,
    cached: sumOf(calls, (usage) => usage.cachedInputTokens),
    cacheWritten: sumOf(calls, (usage) => usage.cacheWriteTokens ?? 0),
    reasoning: sumOf(calls, (usage) => usage.reasoningTokens),
    orchestrationInput: sumOf(orchestrating, (usage) => usage.inputTokens),
    orchestrationOutput: sumOf(orchestrating, (usage) => usage.outputTokens),
  };
}

function sumOf(calls: readonly Call[], count: (usage: Usage) => number): number {
  return calls.reduce((sum, { usage }) => sum + (usage === null ? 0 : count(usage)), 0);
}

/** Whether the answer was cut at the caller's token limit. */
export function wasCut(result: SolveResult): boolean {
  return result.answerCut === true;
}

/** Returns `cost` in USD, as OpenRouter does; it is a lower bound if the cost of a call is unknown. */
export const costOf = ({ costUsd, costIsLowerBound }: SolveResult) =>
  ({ cost: costUsd, cost_details: { is_lower_bound: costIsLowerBound } }) as const;

/**
 * Returns the headers of a complete answer: the solve, and the amounts that LiteLLM books for a pass-through target
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
  return { 'x-conductor-solve': id, 'x-request-id': id };
}
