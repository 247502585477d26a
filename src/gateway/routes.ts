import { z } from '@hono/zod-openapi';
import { solveResultSchema } from '../protocol/solve';

// Parts of the OpenAPI document that routes share.

export const bodyOf = <Schema extends z.ZodType>(schema: Schema) =>
  ({ content: { 'application/json': { schema } }, required: true }) as const;

export const jsonOf = <Schema extends z.ZodType>(schema: Schema, description: string) =>
  ({ content: { 'application/json': { schema } }, description }) as const;

/** A response of one JSON object or, if the client asks for a stream, of server-sent events. */
export const jsonOrEventsOf = <Schema extends z.ZodType>(schema: Schema, description: string) =>
  ({
    content: { 'application/json': { schema }, 'text/event-stream': { schema: z.string() } },
    description,
  }) as const;

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

/** A solve as `/api/solves/ID` shows it. */
export const resultSchema = documented('SolveResult', solveResultSchema);
