import { z } from 'zod';

/** A value that may come as JSON: in some exports of a data set, in a cell of CSV, from a server. */
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
