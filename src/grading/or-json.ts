import { z } from 'zod';

/** Accepts a value that may arrive as JSON text: in some exports of a data set, in a CSV cell, from a server. */
export function orJson<Schema extends z.ZodType>(schema: Schema): z.ZodPreprocess<Schema> {
  return z.preprocess(fromJson, schema);
}

/** Parses JSON; returns any other value unchanged. */
export function fromJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
