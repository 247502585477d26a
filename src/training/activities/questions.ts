import type { z } from 'zod';
import { ConfigError, explainIssue } from '../../config/errors';
import { openDataFile } from '../../evaluation/data/read-records';
import { normalizeQuestion } from '../../evaluation/data/question-index';
import { readQuestionFile, refuseMistakes, type Row } from '../../evaluation/data/data-set';
import type { Question } from '../../grading/question';
import type { TrainingConfig } from '../config/schema';

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
  refuseMistakes(repeatsIn([...train, ...heldOut]));
  return { train: train.map(({ value }) => value), heldOut: heldOut.map(({ value }) => value) };
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

/**
 * Reads a file of JSON lines, relative to the folder of the process; empty lines are skipped.
 *
 * @throws ConfigError that names file, line, place, value and what was expected, of each mistake
 */
export async function readRows<T>(file: string, schema: z.ZodType<T>): Promise<readonly Row<T>[]> {
  const rows: Row<T>[] = [];
  const mistakes: string[] = [];
  for await (const { place, ...record } of (await openDataFile(file)).records) {
    if ('problem' in record) {
      mistakes.push(`${place}: ${record.problem}`);
      continue;
    }
    const { success, data, error } = schema.safeParse(record.fields);
    if (success) rows.push({ value: data, place });
    else mistakes.push(...error.issues.map((issue) => `${place}: ${explainIssue(issue, record.fields)}`));
  }
  refuseMistakes(mistakes);
  if (rows.length === 0) throw new ConfigError(`${file} holds no line: expected JSON lines, one row each`);
  return rows;
}
