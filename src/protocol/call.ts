import { z } from 'zod';

/** A failure as the trace shows it: a type of `failures.ts` and one sentence, free of secrets. */
export const problemSchema = z.object({ type: z.string(), message: z.string() });
export type Problem = z.infer<typeof problemSchema>;

/** Tokens as the provider counted them; cached, written and reasoning tokens are parts of input and output. */
const usageSchema = z.object({
  inputTokens: z.int(),
  outputTokens: z.int(),
  cachedInputTokens: z.int(),
  reasoningTokens: z.int(),
  /** Input written to the provider's cache, which may cost more than other input; absent where none was. */
  cacheWriteTokens: z.int().exactOptional(),
  /** The part of those that Anthropic keeps for an hour instead of five minutes. */
  hourCacheWriteTokens: z.int().exactOptional(),
  /** The vendor's word for how it served the request, e.g. `flex`, `batch`; absent for the usual tier. */
  serviceTier: z.string().exactOptional(),
});
export type Usage = z.infer<typeof usageSchema>;

/** One request to a model, answered or not. The ledger holds one such row per attempt. */
export const callSchema = z.object({
  /** SHA-256 over workflow id, run id, activity id and the canonical request: the same for each attempt. */
  callId: z.string(),
  /** `review`: the Conductor reads an earlier answer. */
  purpose: z.enum(['plan', 'repair', 'step', 'review']),
  round: z.int(),
  /** Index of the step in its plan; null for a call of the Conductor itself. */
  step: z.int().nullable(),
  /** Counted from 1 under this call id. */
  attempt: z.int(),
  worker: z.string(),
  model: z.string(),
  /** Absent for the run's own calls. */
  childId: z.string().exactOptional(),
  error: problemSchema.nullable(),
  /** null while unknown: the request may have been billed, but nothing says how much. */
  usage: usageSchema.nullable(),
  /** 10⁻⁹ USD; null while unknown, 0 only where nothing was billed. */
  nanoUsd: z.int().nullable(),
  /** Charge reported by the provider, if it was too low to be believed and the price was booked. */
  reportedNanoUsd: z.int().exactOptional(),
});
export type Call = z.infer<typeof callSchema>;
export type CallPurpose = Call['purpose'];
