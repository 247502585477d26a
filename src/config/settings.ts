import { z } from 'zod';
import { isDuration } from './duration';

/** A duration as people write it, in the notation of Temporal's own SDK: from one second to 24 days. */
export const durationSchema = z.string().refine(isDuration, {
  error: 'expected a duration from 1s to 24d, e.g. 90s, 30m or 2h',
});

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

const count = z.int().positive();

/** What one worker process holds its calls of a model to; each key stands alone. */
export const pacing = {
  rate: z
    .strictObject({ requestsPerMinute: count.exactOptional(), tokensPerMinute: count.exactOptional() })
    .exactOptional(),
  /** Requests at a time. */
  concurrency: count.exactOptional(),
  /** After so many failures in a row the model is left alone for a while; false: never. */
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

/** By provider: calls that Temporal starts in a second, over all worker processes. */
export const callsPerSecondSchema = z.strictObject({
  openai: z.number().positive().exactOptional(),
  anthropic: z.number().positive().exactOptional(),
  google: z.number().positive().exactOptional(),
  local: z.number().positive().exactOptional(),
  policy: z.number().positive().exactOptional(),
});

/** Checks that rates of queues are asked for only where there are such queues. */
export function checkQueues(
  { queuePerProvider, callsPerSecond }: { queuePerProvider: boolean; callsPerSecond?: unknown },
  context: z.RefinementCtx,
): void {
  if (callsPerSecond === undefined || queuePerProvider) return;
  context.addIssue({
    code: 'custom',
    path: ['callsPerSecond'],
    message:
      'a rate by provider is kept by the queue of that provider; set queuePerProvider: true or remove it',
  });
}
