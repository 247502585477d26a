import { z } from '@hono/zod-openapi';

// Parts of the OpenAPI document that routes share.

interface Json<Schema> {
  readonly content: { readonly 'application/json': { readonly schema: Schema } };
}

interface JsonOrEvents<Schema> {
  readonly content: Json<Schema>['content'] & {
    readonly 'text/event-stream': { readonly schema: z.ZodString };
  };
}

interface Described {
  readonly description: string;
}

export function bodyOf<Schema extends z.ZodType>(schema: Schema): Json<Schema> & { readonly required: true } {
  return { content: { 'application/json': { schema } }, required: true };
}

export function jsonOf<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
): Json<Schema> & Described {
  return { content: { 'application/json': { schema } }, description };
}

/** A response of one JSON object or, if the client asks for a stream, of server-sent events. */
export function jsonOrEventsOf<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
): JsonOrEvents<Schema> & Described {
  return {
    content: { 'application/json': { schema }, 'text/event-stream': { schema: z.string() } },
    description,
  };
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

/** Security of a route that needs no key. */
export const UNKEYED: Record<string, string[]>[] = [];

/** Adds an existing schema to the document under a name; responses are not validated against it. */
export function documented<Value>(name: string, schema: z.ZodType<Value>): z.ZodType<Value> {
  const json: object = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' });
  return z.custom<Value>().openapi(name, { ...json, $schema: undefined } as object);
}
