import ms from 'ms';
import { z } from 'zod';

/** Below one second nothing of ours can be timed; beyond 24 days a timer of Node fires at once instead. */
const SHORTEST_MS = 1000;
const LONGEST_MS = 24 * 24 * 60 * 60 * 1000;

/** A duration as people write it, in the notation of Temporal's own SDK: from one second to 24 days. */
export const durationSchema = z.string().refine(isDuration, {
  error: 'expected a duration from 1s to 24d, e.g. 90s, 30m or 2h',
});

/** In milliseconds; the duration must have been checked. */
export function durationMs(duration: string): number {
  return ms(duration as ms.StringValue);
}

function isDuration(text: string): boolean {
  // The notation also takes bare numbers as milliseconds, which is not what `wallClock: 30` is meant to say.
  if (text.length > 100 || !/[a-z]$/i.test(text)) return false;
  // Whatever its types say, it gives NaN or undefined for other texts: no comparison holds then.
  const length = ms(text as ms.StringValue);
  return length >= SHORTEST_MS && length <= LONGEST_MS;
}

/** Effort levels of all vendors, lowest first; a model's capabilities tell which of them it has. */
export const effortSchema = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);

const rate = z.number().nonnegative();

/** In USD per million tokens. */
export const priceSchema = z.strictObject({
  input: rate,
  output: rate,
  cachedInput: rate.exactOptional(),
  cacheWrite: rate.exactOptional(),
});

export const capabilitiesSchema = z.strictObject({
  sampling: z.boolean().exactOptional(),
  effort: z.array(effortSchema).exactOptional(),
  jsonSchema: z.boolean().exactOptional(),
  maxOutputTokens: z.int().positive().nullable().exactOptional(),
});

/** The name of an environment variable. A key put here by mistake has another shape, and no error repeats it. */
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

/** How one worker process paces its calls of a model. */
export const pacing = {
  rate: z
    .strictObject({ requestsPerMinute: count.exactOptional(), tokensPerMinute: count.exactOptional() })
    .exactOptional(),
  concurrency: count.exactOptional(),
  /** The model is left alone for a while after so many failures in a row; false: never. */
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

/** By provider: calls that Temporal starts in a second, over all worker processes. */
export const callsPerSecondSchema = z.strictObject({
  openai: perSecond,
  anthropic: perSecond,
  google: perSecond,
  local: perSecond,
  policy: perSecond,
});
