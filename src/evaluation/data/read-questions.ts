import { ConfigError } from '../../config/errors';
import type { Question } from '../../grading/question';
import { openDataSet } from './data-set';
import type { PlainGrader } from './formats/pairs';

/** What stands at a place, `file:line`; lines are counted from 1. */
export interface Row<T> {
  readonly value: T;
  readonly place: string;
}

/**
 * Reads a file of questions, in any format that `data inspect` knows, relative to the folder of the process.
 *
 * @param grader of rows that name none
 * @throws ConfigError that names file, place, value and what was expected, of each mistake
 */
export async function readQuestionFile(
  file: string,
  grader?: PlainGrader,
): Promise<readonly Row<Question>[]> {
  const rows: Row<Question>[] = [];
  const mistakes: string[] = [];
  for await (const row of (await openDataSet(file, grader)).rows) {
    const { place } = row;
    if ('question' in row) rows.push({ value: row.question, place });
    else if ('problems' in row) mistakes.push(...row.problems.map((problem) => `${place}: ${problem}`));
  }
  refuseMistakes(mistakes);
  if (rows.length === 0) throw new ConfigError(`${file} holds no question: expected one a row`);
  return rows;
}

const MOST_MISTAKES = 20;

/** @throws ConfigError that names the first of them, where there are any */
export function refuseMistakes(mistakes: readonly string[]): void {
  if (mistakes.length === 0) return;
  const more = mistakes.length - MOST_MISTAKES;
  const shown = mistakes.slice(0, MOST_MISTAKES);
  throw new ConfigError([...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'));
}
