import { z } from 'zod';

/** `POST /tokenize`. */
export const tokenizeReplySchema = z.object({ tokens: z.array(z.int().nonnegative()) });

/**
 * How far above 0 rounding lifts the log-probability of a token that is nearly certain. More than that is no rounding.
 */
const ROUNDING = 1e-3;

const logprobSchema = z
  .number()
  .max(ROUNDING)
  .transform((logprob) => Math.min(logprob, 0));

const choiceSchema = z
  .object({
    index: z.int().nonnegative(),
    text: z.string(),
    token_ids: z.array(z.int().nonnegative()).min(1),
    logprobs: z.object({ token_logprobs: z.array(logprobSchema) }),
    finish_reason: z.enum(['stop', 'length', 'abort']),
    prompt_token_ids: z.array(z.int().nonnegative()).nullish(),
  })
  .refine((choice) => choice.token_ids.length === choice.logprobs.token_logprobs.length, {
    error: 'expected a log-probability for each token',
    path: ['logprobs', 'token_logprobs'],
  });

/** `POST /v1/completions` with `logprobs: 0` and `return_token_ids: true`. */
export const completionReplySchema = z.object({
  model: z.string(),
  choices: z.array(choiceSchema),
  usage: z.object({ prompt_tokens: z.int().nonnegative(), completion_tokens: z.int().nonnegative() }),
});
export type CompletionReply = z.infer<typeof completionReplySchema>;

/** Any refusal, by vLLM or by our own server; frameworks in front of them say `detail`. */
export const refusalSchema = z.union([
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ message: z.string() }).transform(({ message }) => message),
  z.object({ detail: z.string() }).transform(({ detail }) => detail),
]);
