import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { isErrorLike } from '../../activities/models/http-error';
import { ConfigError, explainIssue } from '../../config/errors';
import { openDataSet } from '../../evaluation/data/data-set';
import { normalizeQuestion } from '../../evaluation/data/question-index';
import type { Question } from '../../grading/question';
import type { TrainingConfig } from '../config/schema';
import { readJson } from '../policy/client';

/**
 * Reads the questions to learn from and those to judge by. No id and no question may occur twice, within a file or across
 * both: questions that were learned from cannot show how well.
 *
 * @throws ConfigError that names file, line and value of each mistake
 */
export async function readQuestions(
  files: TrainingConfig['data'],
): Promise<{ readonly train: readonly Question[]; readonly heldOut: readonly Question[] }> {
  const train = await readQuestionFile(files.train);
  const heldOut = await readQuestionFile(files.heldOut);
  refuse(repeatsIn([...train, ...heldOut]));
  return { train: train.map(({ value }) => value), heldOut: heldOut.map(({ value }) => value) };
}

/**
 * Reads a file of questions, in any format that `data inspect` knows, relative to the folder of the process.
 *
 * @throws ConfigError that names file, place, value and what was expected, of each mistake
 */
export async function readQuestionFile(file: string): Promise<readonly Row<Question>[]> {
  const rows: Row<Question>[] = [];
  const mistakes: string[] = [];
  for await (const row of (await openDataSet(file)).rows) {
    const { place } = row;
    if ('question' in row) rows.push({ value: row.question, place });
    else if ('problems' in row) mistakes.push(...row.problems.map((problem) => `${place}: ${problem}`));
  }
  refuse(mistakes);
  if (rows.length === 0) throw new ConfigError(`${file} holds no question: expected one a row`);
  return rows;
}

function repeatsIn(rows: readonly Row<Question>[]): string[] {
  const ids = new Map<string, string>();
  const questions = new Map<string, string>();
  return rows.flatMap(({ value, place }) => {
    const { id } = value;
    const question = normalizeQuestion(value.question);
    const sameId = ids.get(id);
    const sameQuestion = questions.get(question);
    ids.set(id, sameId ?? place);
    questions.set(question, sameQuestion ?? place);
    if (sameId !== undefined) {
      return [`${place}: id is ${JSON.stringify(id)}, as it is in ${sameId}: give each question its own`];
    }
    if (sameQuestion !== undefined) {
      return [`${place}: question is the same as in ${sameQuestion}, but for case and blanks: remove one`];
    }
    return [];
  });
}

/** At `file:line`, lines counted from 1. */
interface Row<T> {
  readonly value: T;
  readonly place: string;
}

const MOST_MISTAKES = 20;

/**
 * Reads a file of JSON lines, relative to the folder of the process; empty lines are skipped.
 *
 * @throws ConfigError that names file, line, place, value and what was expected, of each mistake
 */
export async function readRows<T>(file: string, schema: z.ZodType<T>): Promise<readonly Row<T>[]> {
  const rows: Row<T>[] = [];
  const mistakes: string[] = [];
  for (const [index, line] of (await readLines(file)).entries()) {
    if (line.trim() === '') continue;
    const place = `${file}:${index + 1}`;
    const content = readJson(line);
    const { success, data, error } = schema.safeParse(content);
    if (success) rows.push({ value: data, place });
    else if (content === null) mistakes.push(`${place}: this is no JSON: write one object a line`);
    else mistakes.push(...error.issues.map((issue) => `${place}: ${explainIssue(issue, content)}`));
  }
  refuse(mistakes);
  if (rows.length === 0) throw new ConfigError(`${file} holds no line: expected JSON lines, one row each`);
  return rows;
}

function refuse(mistakes: readonly string[]): void {
  if (mistakes.length === 0) return;
  const more = mistakes.length - MOST_MISTAKES;
  const shown = mistakes.slice(0, MOST_MISTAKES);
  throw new ConfigError([...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'));
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
