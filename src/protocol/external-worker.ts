import { z } from 'zod';
import type { ExternalCard } from '../pool/card';

/** What a worker of kind `activity` or `workflow` returns. */
const externalResultSchema = z.object({
  text: z.string(),
  usage: z
    .object({
      inputTokens: z.int().nonnegative(),
      outputTokens: z.int().nonnegative(),
      cachedInputTokens: z.int().nonnegative().default(0),
      reasoningTokens: z.int().nonnegative().default(0),
    })
    .optional(),
});
export type ExternalResult = z.infer<typeof externalResultSchema>;

/** The same as its author writes it: parts of the usage that nobody counted are left out. */
export type ExternalAnswer = z.input<typeof externalResultSchema>;

/**
 * Reads what such a worker returned, whoever wrote it.
 *
 * @throws Error that names the activity or workflow and what is wrong with its result
 */
export function readExternalResult(result: unknown, { kind, type }: ExternalCard): ExternalResult {
  const { success, data, error } = externalResultSchema.safeParse(result);
  if (success) return data;
  const reason = z.prettifyError(error).replace(/\s+/g, ' ');
  throw new Error(`${kind} ${type} did not return { text, usage? }: ${reason}`);
}
