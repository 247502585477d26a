import { z } from 'zod';
import { jsonBytes } from '../plan/plan';
import { isRecord } from '../plan/validate';

/** JSON Schema of an answer, or of a function's arguments. */
export type AnswerSchema = Readonly<Record<string, unknown>>;

const MAX_SCHEMA_BYTES = 64 * 1024;
/** Nesting of objects and lists alike. */
const MAX_SCHEMA_DEPTH = 64;

export const answerSchemaSchema = z.custom<AnswerSchema>(isAnswerSchema, {
  error: `expected a JSON Schema of at most ${MAX_SCHEMA_BYTES} bytes, nested at most ${MAX_SCHEMA_DEPTH} deep`,
});

function isAnswerSchema(value: unknown): value is AnswerSchema {
  return isRecord(value) && !isDeeper(value, MAX_SCHEMA_DEPTH) && jsonBytes(value) <= MAX_SCHEMA_BYTES;
}

function isDeeper(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return most === 0 || Object.values(value).some((part) => isDeeper(part, most - 1));
}
