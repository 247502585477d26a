import { z } from 'zod';
import { expectationIn } from '../../config/expectation';
import type { Usage } from '../../protocol/solve';
import { failureIn } from './failures/cause';
import { holdsOutput, type Said, saidIn } from './failures/said';

/** A 2xx response whose body is not what the vendor's API promises. It may have been billed. */
export class UnreadableReply extends Error {
  override readonly name = 'UnreadableReply';
}

/** The server's own report of a failure, under 200, in place of a reply or of its rest. */
export class ReportedFailure extends UnreadableReply {
  /** @param hasBegun whether anything of an answer had come, so that the call may have been billed */
  constructor(
    readonly said: Said,
    readonly isStream: boolean,
    readonly hasBegun: boolean,
  ) {
    super(said.sentence);
  }
}

/** @throws ReportedFailure if a whole body is, or holds, the report of a failure */
export function refuseReported(body: unknown): void {
  const said = failureIn(body);
  if (said) throw new ReportedFailure(said, false, holdsOutput(body));
}

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
  // The failure of a server that reports it in a shape of its own.
  const { sentence } = saidIn(body);
  if (sentence !== '') throw new UnreadableReply(`no answer, but ${sentence}`);
  const [issue] = result.error.issues;
  const expectation = issue === undefined ? '' : `: ${expectationIn(issue)}`;
  throw new UnreadableReply(`JSON that is wrong at "${issue?.path.join('.') ?? ''}"${expectation}`);
}

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
