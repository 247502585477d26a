import { z } from '@hono/zod-openapi';
import type { ConversationTurn } from '../../protocol/input';
import { badRequest } from '../refusal';
import {
  IgnoredFields,
  type SurfaceQuestion,
  checkFields,
  REQUEST_EFFORTS,
  extensionSchema,
  limitOf,
  MOST_ITEMS,
  readEffort,
} from '../solve/request-fields';
import { readForm } from '../solve/request-form';
import { turnContentSchema, messageSchema, placed, textOfContent, turnsOf } from '../solve/request-turns';

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
  const messages = [...systemOf(body, allowance), ...turnsOf(placed(body.messages, 'messages'), allowance)];
  checkFields(body, messagesRequestSchema.shape, allowance);
  return {
    model: body.model,
    messages,
    ...readForm(body),
    maxAnswerTokens: limitOf(body.max_tokens),
    effort: readEffort(body),
    extension: body.conductor ?? {},
    warnings: allowance.warnings,
  };
}

function systemOf(
  { system }: Pick<z.infer<typeof messagesRequestSchema>, 'system'>,
  allowance: IgnoredFields,
): ConversationTurn[] {
  const content = textOfContent(system, 'system', allowance);
  return content.trim() === '' ? [] : [{ role: 'system', content }];
}
