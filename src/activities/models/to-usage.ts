import type { Usage } from '../../protocol/call';

/** A usage as an adapter reads it: every count there, the tier in the vendor's word. */
interface ReadUsage extends Omit<Required<Usage>, 'serviceTier'> {
  readonly serviceTier: string | null | undefined;
}

/** What vendors call the tier that their plain price is for. */
const USUAL_TIERS = new Set(['default', 'standard', 'on_demand', 'auto', 'unspecified']);

/** A usage that names nothing that did not happen: few requests write to a cache or are served in a tier of their own. */
export function toUsage({
  cacheWriteTokens,
  hourCacheWriteTokens,
  serviceTier,
  ...tokens
}: ReadUsage): Usage {
  const tier = serviceTier?.toLowerCase();
  return {
    ...tokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(hourCacheWriteTokens > 0 && { hourCacheWriteTokens }),
    ...(tier !== undefined && tier !== '' && !USUAL_TIERS.has(tier) && { serviceTier: tier }),
  };
}
