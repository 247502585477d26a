import { z } from 'zod';

/** A 2xx whose body is not what the vendor's API promises. It may have been billed. */
export class UnreadableReply extends Error {
  override readonly name = 'UnreadableReply';
}

/** A count of tokens that a usage record must hold to be of use. */
export const tokensSchema = z.int().nonnegative();

/** A count that many servers leave out where it is 0. */
export const partSchema = tokensSchema.nullish().transform((count) => count ?? 0);

/** In which service tier a request was served, in the vendor's word. */
export const tierSchema = z.string().nullish().catch(null);

/** What OpenRouter and its like say they charged: USD beside the token counts, read as 10⁻⁹ USD; null where they do not. */
export const nanoUsdSchema = z
  .number()
  .positive()
  .transform((usd) => Math.round(usd * 1e9))
  .nullish()
  .catch(null);

/**
 * Reads the parts of a reply that matter here.
 *
 * The SDKs check nothing: their types say what the vendor promises, while a proxy's web page arrives as a string and an
 * OpenAI-compatible server may leave half of it out.
 *
 * @throws UnreadableReply naming the first part that is amiss
 */
export function readReply<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  if (typeof body === 'string')
    throw new UnreadableReply(`no JSON but text that begins "${body.slice(0, 80)}"`);
  const [issue] = result.error.issues;
  throw new UnreadableReply(
    `JSON that is wrong at "${issue?.path.join('.') ?? ''}": ${issue?.message ?? ''}`,
  );
}
