import type { Usage } from '../protocol/solve';
import type { Price } from '../protocol/cards';

/** Returns the bill of a request in nano-USD, or null if its usage or its price, in its service tier, is unknown. */
export function billOf(usage: Usage | null, price: Price | null): number | null {
  if (usage === null || price === null) return null;
  const { serviceTier } = usage;
  const { tiers } = price;
  if (serviceTier === undefined || tiers === undefined) return nanoUsdOf(usage, price);
  // The name comes from a server: it may be that of an object's method.
  const inTier = Object.hasOwn(tiers, serviceTier) ? tiers[serviceTier] : undefined;
  if (inTier === undefined) return null;
  return typeof inTier === 'number' ? nanoUsdOf(usage, price, inTier) : nanoUsdOf(usage, inTier);
}

/** Smallest share of the computed price at which a reported charge is believed. */
const BELIEVABLE = 0.5;

/**
 * Returns the amount to book for a billed request in nano-USD, or null if unknown. The provider's reported charge wins
 * over the price (discounts, cheaper upstreams), unless it is so low that it must be only a part of the bill.
 */
export function chargeOf(usage: Usage | null, price: Price | null, reported: number | null): number | null {
  const priced = billOf(usage, price);
  if (reported === null || (priced !== null && reported < BELIEVABLE * priced)) return priced;
  return reported;
}

/** Returns the nano-USD that a prompt cache saved on a request, negative if it cost more; null as `billOf`. */
export function savedByCache(usage: Usage | null, price: Price | null): number | null {
  if (usage === null) return null;
  const uncached = { ...usage, cachedInputTokens: 0, cacheWriteTokens: 0, hourCacheWriteTokens: 0 };
  const [without, billed] = [billOf(uncached, price), billOf(usage, price)];
  return without === null || billed === null ? null : without - billed;
}

/**
 * Returns the cost of one request in nano-USD (10⁻⁹ USD), an integer, in the standard service tier or at `factor`
 * times its rates.
 *
 * Rates are rounded to a millionth of a USD per million tokens, which is a whole number of pico-USD per token. The sum
 * is exact and rounded once, half up. Cache reads and writes are part of the input, reasoning is part of the output.
 */
export function nanoUsdOf(usage: Usage, price: Price, factor = 1): number {
  const { inputTokens, outputTokens } = usage;
  const { longPrompt } = price;
  const rates = longPrompt && inputTokens > longPrompt.over ? longPrompt : price;
  const { input, output, cachedInput = input, cacheWrite = input, hourCacheWrite = cacheWrite } = rates;
  const cached = Math.min(usage.cachedInputTokens, inputTokens);
  const written = Math.min(usage.cacheWriteTokens ?? 0, inputTokens - cached);
  const writtenForAnHour = Math.min(usage.hourCacheWriteTokens ?? 0, written);
  const picoUsd = (tokens: number, usdPerMillion: number): bigint =>
    BigInt(tokens) * BigInt(Math.round(usdPerMillion * factor * 1e6));
  const pico =
    picoUsd(inputTokens - cached - written, input) +
    picoUsd(cached, cachedInput) +
    picoUsd(written - writtenForAnHour, cacheWrite) +
    picoUsd(writtenForAnHour, hourCacheWrite) +
    picoUsd(outputTokens, output);
  return Number((pico + 500n) / 1000n);
}
