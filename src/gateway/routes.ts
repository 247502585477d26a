import { z } from '@hono/zod-openapi';

// Parts of the OpenAPI document that many routes share.

export function bodyOf<Schema extends z.ZodType>(schema: Schema) {
  return { content: { 'application/json': { schema } }, required: true } as const;
}

export function jsonOf<Schema extends z.ZodType>(schema: Schema, description: string) {
  return { content: { 'application/json': { schema } }, description } as const;
}

const openAiErrorSchema = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string(),
    }),
  })
  .openapi('Error');

export const refusals = {
  '4XX': jsonOf(openAiErrorSchema, 'What is wrong with the request, and what to do'),
  '5XX': jsonOf(openAiErrorSchema, 'What failed'),
} as const;
