import { z } from 'zod';

/** Effort levels of all vendors, lowest first; which of them a model has is a matter of its capabilities. */
export const effortSchema = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);

/** USD per million tokens. */
const rate = z.number().nonnegative();

/** A card's own price, which wins over the bundled one. */
export const priceSchema = z.strictObject({
  input: rate,
  output: rate,
  cachedInput: rate.exactOptional(),
  cacheWrite: rate.exactOptional(),
});

/** What a card knows better than the bundled table; each part stands alone. */
export const capabilitiesSchema = z.strictObject({
  sampling: z.boolean().exactOptional(),
  effort: z.array(effortSchema).exactOptional(),
  jsonSchema: z.boolean().exactOptional(),
  maxOutputTokens: z.int().positive().nullable().exactOptional(),
});

/** The name of an environment variable. A key put here by mistake has another shape, and is not repeated in the error. */
export const keyNameSchema = z.string().regex(/^[A-Z_][A-Z0-9_]{0,63}$/, {
  error:
    'expected the name of an environment variable, e.g. OPENAI_API_KEY; a key itself never belongs in this file',
});

/** Address of a server that speaks a vendor's protocol. It travels through Temporal, so no secret may be in it. */
export const baseUrlSchema = z.string().refine(isPlainHttpUrl, {
  error:
    'expected a plain http or https address such as http://127.0.0.1:8000/v1, without user name or query',
});

function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol)) return false;
  return [url.username, url.password, url.search, url.hash].every((part) => part === '');
}
