import { z } from 'zod';

const MAX_USD = 1e6;

/** An amount that makes no sense is one that was not reported. */
const amountUpTo = (max: number) => z.number().nonnegative().max(max).nullish().catch(null);

/** Fields beside the token counts in which some OpenAI-compatible servers report a request's cost. */
export const chargeFields = {
  /** USD (OpenRouter: openrouter.ai/docs/use-cases/usage-accounting). */
  cost: amountUpTo(MAX_USD),
  /** OpenRouter asked with the user's own key of the vendor: `cost` is its fee alone. */
  is_byok: z.boolean().nullish().catch(null),
  cost_details: z
    .object({ upstream_inference_cost: amountUpTo(MAX_USD) })
    .nullish()
    .catch(null),
  /** 10⁻¹⁰ USD (xAI: docs.x.ai). */
  cost_in_usd_ticks: amountUpTo(MAX_USD * 1e10),
};

type Charge = z.output<z.ZodObject<typeof chargeFields>>;

/**
 * What a request cost by the provider's own account, in nano-USD; null where it does not say. 0 says nothing: servers
 * that do not count report it, too.
 */
export function reportedCharge(charge: Charge): number | null {
  const usd = usdOf(charge);
  return usd === null || usd === 0 ? null : Math.round(usd * 1e9);
}

function usdOf({
  cost,
  is_byok: isByok,
  cost_details: details,
  cost_in_usd_ticks: ticks,
}: Charge): number | null {
  if (cost == null) return ticks == null ? null : ticks / 1e10;
  const upstream = details?.upstream_inference_cost ?? null;
  // Without the user's own key, the upstream's price is a part of the cost, and never more than all of it.
  if (!(isByok ?? (upstream ?? 0) > cost)) return cost;
  // The vendor bills the user, and nothing says how much.
  return upstream === null ? null : cost + upstream;
}
