import { z } from 'zod';
import { CRITERIA, SEARCH_ATTRIBUTES } from '../protocol/search-attributes';
import { isDuration } from './duration';

const A_DURATION = 'expected a duration from 1s to 24d, e.g. 90s, 30m or 2h';

/** Duration in the notation of Temporal's SDK, from one second to 24 days. */
export const durationSchema = z.string({ error: A_DURATION }).refine(isDuration, { error: A_DURATION });

const AN_ATTRIBUTE = `expected true, or a list of ${Object.values(SEARCH_ATTRIBUTES).join(', ')}`;

/** Names of search attributes of ours; true: all of them. */
export const attributesSchema = z.union(
  [z.literal(true), z.array(z.enum(SEARCH_ATTRIBUTES)).min(1).max(CRITERIA.length)],
  { error: AN_ATTRIBUTE },
);

export const tokens = z.int().positive().max(10_000_000);

/** Effort levels of all vendors, lowest first; a model's capabilities say which of them it supports. */
export const effortSchema = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);

const rate = z.number().nonnegative().max(10_000);

const A_PRICE = 'expected 0, or USD per million tokens, e.g. { input: 2, output: 10 }';

const ratesSchema = z.strictObject(
  {
    input: rate,
    output: rate,
    cachedInput: rate.exactOptional(),
    cacheWrite: rate.exactOptional(),
  },
  { error: ({ code }) => (code === 'invalid_type' ? A_PRICE : undefined) },
);

type Rates = z.output<typeof ratesSchema>;

/** Price in USD per million tokens; 0 for a model that costs nothing, such as a local one. */
export const priceSchema = z.preprocess(
  (price) => (price === 0 ? { input: 0, output: 0 } : price),
  ratesSchema,
) as z.ZodType as z.ZodType<Rates, Rates | 0>;

export const capabilitiesSchema = z.strictObject({
  sampling: z.boolean().exactOptional(),
  effort: z.array(effortSchema).exactOptional(),
  thinking: z.boolean().exactOptional(),
  jsonSchema: z.boolean().exactOptional(),
  textTools: z.boolean().exactOptional(),
  maxOutputTokens: tokens.nullable().exactOptional(),
});

const A_KEY_NAME = {
  error:
    'expected the name of an environment variable, e.g. OPENAI_API_KEY; a key itself never belongs in this file',
} as const;

/** Name of an environment variable. A key put here by mistake has another shape, and errors do not repeat it. */
export const keyNameSchema = z.string(A_KEY_NAME).regex(/^[A-Z_][A-Z0-9_]{0,63}$/, A_KEY_NAME);

const AN_ADDRESS = {
  error:
    'expected a plain http or https address such as http://127.0.0.1:8000/v1, without user name or query',
} as const;

/** Address of a server that speaks a vendor's protocol. It is sent through Temporal, so it must contain no secret. */
export const baseUrlSchema = z.string(AN_ADDRESS).refine(isPlainHttpUrl, AN_ADDRESS);

/** Address of a proxy. It is sent through Temporal with the card, so it must contain no secret. */
export const proxySchema = z
  .string()
  .refine((text) => isPlainHttpUrl(text) && new URL(text).pathname === '/', {
    error:
      'expected http://host:port or https://host:port; one that wants a user and a password is named by HTTPS_PROXY',
  });

function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol)) return false;
  return [url.username, url.password, url.search, url.hash].every((part) => part === '');
}

const count = z.int().positive();

const A_RATE = 'expected { requestsPerMinute, tokensPerMinute }, either or both';

/** Limits on calls of a model. Where a database counts rate and concurrency, they hold for all worker processes together. */
export const pacing = {
  rate: z
    .strictObject(
      { requestsPerMinute: count.exactOptional(), tokensPerMinute: count.exactOptional() },
      { error: ({ code }) => (code === 'invalid_type' ? A_RATE : undefined) },
    )
    .exactOptional(),
  concurrency: count.exactOptional(),
  /** Circuit breaker: pauses calls after `failures` consecutive failures; false: never. */
  circuit: z
    .union(
      [
        z.literal(false),
        z.strictObject({ failures: count.exactOptional(), pause: durationSchema.exactOptional() }),
      ],
      { error: 'expected false, or { failures, pause }: a whole number from 1 and a duration' },
    )
    .exactOptional(),
};

const perSecond = z.number().positive().exactOptional();

/** Most calls per second that Temporal starts for each provider, across all worker processes. */
export const callsPerSecondSchema = z.strictObject({
  openai: perSecond,
  anthropic: perSecond,
  google: perSecond,
  local: perSecond,
  policy: perSecond,
});
