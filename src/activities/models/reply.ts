import { z } from 'zod';
import type { Usage } from '../../protocol/solve';

/** A 2xx response whose body is not what the vendor's API promises. It may have been billed. */
export class UnreadableReply extends Error {
  override readonly name = 'UnreadableReply';
}

/** The server's own report of a failure in place of a reply: it may be about the question. */
export class ReportedFailure extends UnreadableReply {}

/** Token count. The maximum is beyond any model, so a larger count is an error, and sums stay exact. */
export const tokensSchema = z.int().nonnegative().max(1e9);

export const partSchema = tokensSchema.nullish().transform((count) => count ?? 0);

const MAX_TIER_CHARACTERS = 40;

/** Service tier, as the vendor names it. A name that is cut here was unknown anyway. */
export const tierSchema = z
  .string()
  .transform((tier) => tier.slice(0, MAX_TIER_CHARACTERS))
  .nullish()
  .catch(null);

/**
 * Reads the parts of a reply that matter here: the SDKs check nothing, and a proxy's web page arrives as a string.
 * @throws UnreadableReply naming the error that came in place of a reply, or the first invalid part
 */
export function readReply<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  if (typeof body === 'string') {
    throw new UnreadableReply(`no JSON but text that begins "${body.slice(0, 80)}"`);
  }
  // OpenRouter reports failures this way once it has started to answer.
  const { data: failed } = failedSchema.safeParse(body);
  if (failed) throw new ReportedFailure(`an error in place of a reply: ${failed.error.message}`);
  const [issue] = result.error.issues;
  throw new UnreadableReply(
    `JSON that is wrong at "${issue?.path.join('.') ?? ''}": ${issue?.message ?? ''}`,
  );
}

const failedSchema = z.object({ error: z.object({ message: z.string() }) });

export const noErrorSchema = z.null().optional();

/** Vendors' names for the tier with the standard price. */
const USUAL_TIERS = new Set(['default', 'standard', 'on_demand', 'auto', 'unspecified']);

/**
 * Returns a usage without fields that do not apply: few requests write to a cache or use a special tier. Returns null
 * if no input was counted: no prompt is empty, so a server that reports 0 does not count, and the cost is unknown.
 */
export function toUsage({
  cacheWriteTokens = 0,
  hourCacheWriteTokens = 0,
  serviceTier,
  ...tokens
}: Omit<Usage, 'serviceTier'> & { serviceTier?: string | null }): Usage | null {
  if (tokens.inputTokens === 0) return null;
  const tier = serviceTier?.toLowerCase();
  return {
    ...tokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(hourCacheWriteTokens > 0 && { hourCacheWriteTokens }),
    ...(tier !== undefined && tier !== '' && !USUAL_TIERS.has(tier) && { serviceTier: tier }),
  };
}
