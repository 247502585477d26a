import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { ConfigError } from '../../pool/config-error';
import { explainIssue } from '../../pool/explain-issue';
import { isErrorLike } from '../models/error-like';

/** A row of a file, and where it stands. */
export interface Row<T> {
  readonly value: T;
  /** `file:line`, lines counted from 1, for messages. */
  readonly place: string;
}

/** Beyond so many mistakes, somebody has named the wrong file. */
const MOST_MISTAKES = 20;

/**
 * Reads a file of JSON lines and checks each of them; empty lines are passed over.
 *
 * @param file as the configuration names it, relative to the folder of the process
 * @throws ConfigError that names file, line, place, value and what was expected, of each mistake
 */
export async function readRows<T>(file: string, schema: z.ZodType<T>): Promise<readonly Row<T>[]> {
  const rows: Row<T>[] = [];
  const mistakes: string[] = [];
  for (const [index, line] of (await readLines(file)).entries()) {
    if (line.trim() === '') continue;
    const place = `${file}:${index + 1}`;
    const row = readRow(line, schema);
    if ('value' in row) rows.push({ ...row, place });
    else mistakes.push(...row.mistakes.map((mistake) => `${place}: ${mistake}`));
  }
  if (mistakes.length > 0) throw new ConfigError(listOf(mistakes));
  if (rows.length === 0) throw new ConfigError(`${file} holds no line: expected JSON lines, one row each`);
  return rows;
}

/** Mistakes as one message, one a line, and how many more there are. */
export function listOf(mistakes: readonly string[]): string {
  const more = mistakes.length - MOST_MISTAKES;
  return [...mistakes.slice(0, MOST_MISTAKES), ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

function readRow<T>(
  line: string,
  schema: z.ZodType<T>,
): { readonly value: T } | { readonly mistakes: readonly string[] } {
  let content: unknown;
  try {
    content = JSON.parse(line);
  } catch {
    return { mistakes: ['this is no JSON: write one object a line'] };
  }
  const { success, data, error } = schema.safeParse(content);
  if (success) return { value: data };
  return { mistakes: error.issues.map((issue) => explainIssue(issue, content)) };
}

async function readLines(file: string): Promise<readonly string[]> {
  try {
    return (await readFile(resolve(file), 'utf8')).split(/\r?\n/);
  } catch (error) {
    const reason = isErrorLike(error) ? error.message : String(error);
    throw new ConfigError(
      `${file} cannot be read: ${reason}; training.data and training.warmStart name files as the worker sees them`,
      { cause: error },
    );
  }
}
