import type { Price } from '../pool/card';
import type { Usage } from '../protocol/call';

/**
 * The cost of one request in nano-USD (10⁻⁹ USD), an integer.
 *
 * Rates are taken to the millionth of a USD per million tokens, which makes them whole pico-USD a token; the sum is
 * exact, and rounded once, half up. Reasoning tokens are output already. Cached tokens cost `cachedInput`, or as much
 * as other input where there is no such rate.
 */
export function nanoUsdOf(usage: Usage, price: Price): number {
  const { inputTokens, outputTokens } = usage;
  const long = price.longPrompt;
  const { input, output, cachedInput = input } = long && inputTokens > long.over ? long : price;
  const cached = Math.min(usage.cachedInputTokens, inputTokens);
  const pico =
    picoUsd(inputTokens - cached, input) + picoUsd(cached, cachedInput) + picoUsd(outputTokens, output);
  return Number((pico + 500n) / 1000n);
}

function picoUsd(tokens: number, usdPerMillion: number): bigint {
  return BigInt(tokens) * BigInt(Math.round(usdPerMillion * 1e6));
}
