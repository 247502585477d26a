import { z } from '@hono/zod-openapi';
import { badRequest } from '../refusal';
import { extensionSchema, IgnoredFields, MOST_ITEMS, REQUEST_EFFORTS } from '../solve/request-fields';
import type { Utterance } from '../solve/request-calls';
import {
  turnContentSchema,
  messageSchema,
  placed,
  utterancesIn,
  textOfContent,
} from '../solve/request-turns';
import { readQuestion, type SurfaceQuestion } from '../solve/surface-question';

/** Supported fields of a message request (https://docs.anthropic.com/en/api/messages). */
export const messagesRequestSchema = z
  .looseObject({
    model: z.string(),
    max_tokens: z.int(),
    messages: z.array(messageSchema).min(1).max(MOST_ITEMS),
    system: turnContentSchema.nullish(),
    stream: z.boolean().nullish(),
    output_config: z
      .looseObject({
        format: z.looseObject({ type: z.string() }).nullish(),
        effort: z.enum(REQUEST_EFFORTS).nullish(),
      })
      .nullish(),
    metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
    conductor: extensionSchema.nullish(),
  })
  .openapi('MessagesRequest');

/** Fields of a request to count its tokens, which limits no answer. */
export const countRequestSchema = messagesRequestSchema
  .partial({ max_tokens: true })
  .openapi('CountTokensRequest');

/** @throws Refusal for an unsupported request */
export function askedOfMessages(body: z.infer<typeof countRequestSchema>, ignored?: string): SurfaceQuestion {
  if (body.max_tokens === 0) {
    const message =
      'max_tokens is 0, which asks for a cache to be filled and for no answer: it must be at least 1';
    throw badRequest(message, 'max_tokens');
  }
  const allowance = new IgnoredFields(ignored);
  return readQuestion(body, {
    said: [...systemOf(body, allowance), ...utterancesIn(placed(body.messages, 'messages'), allowance)],
    taken: messagesRequestSchema.shape,
    maxTokens: body.max_tokens,
    allowance,
  });
}

function systemOf(
  { system }: Pick<z.infer<typeof messagesRequestSchema>, 'system'>,
  allowance: IgnoredFields,
): Utterance[] {
  const content = textOfContent(system, 'system', allowance);
  return content.trim() === '' ? [] : [{ kind: 'text', role: 'system', content }];
}
