import { z } from '@hono/zod-openapi';

// Parts of the OpenAPI document that many routes share.

interface Json<Schema> {
  readonly content: { readonly 'application/json': { readonly schema: Schema } };
}

export function bodyOf<Schema extends z.ZodType>(schema: Schema): Json<Schema> & { readonly required: true } {
  return { content: { 'application/json': { schema } }, required: true };
}

export function jsonOf<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
): Json<Schema> & { readonly description: string } {
  return { content: { 'application/json': { schema } }, description };
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
