import { z } from 'zod';

/** What a worker of kind `activity` or `workflow` returns. */
export const externalResultSchema = z.object({
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
