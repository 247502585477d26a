import { ConfigError, someOf } from '../../config/errors';
import type { Question } from '../../grading/question';
import { reasonOf } from '../../errors';
import { whyUnanswerable, withOptions } from './answerable';
import {
  type DataFormat,
  type Mapped,
  own,
  pairs,
  type PlainGrader,
  problems,
  type Prompts,
  withQuestion,
} from './format';
import { SETS } from './known-sets';
import { type FileRecord, openDataFile } from './read-records';

/** Row of a file: its question, why it is left out, or its mistakes. */
export type DataRow = Mapped & {
  readonly place: string;
  /** Null until a row could be read. */
  readonly format: DataFormat | null;
};

/**
 * Opens a file of questions, in our own format or that of a data set recognised by its fields. Rows are read one at a
 * time (Parquet: one row group at a time).
 *
 * @param grader for rows that name none
 * @param prompts form in which questions of known sets are asked
 * @throws ConfigError with a remedy, also while rows are read
 */
export async function openDataSet(
  file: string,
  grader?: PlainGrader,
  prompts: Prompts = 'plain',
): Promise<{ readonly kind: string; readonly rows: AsyncIterable<DataRow> }> {
  const { kind, records } = await openDataFile(file);
  return { kind, rows: mapRows(file, records, { grader, prompts }) };
}

/** Most records that are looked at to recognise a set. */
const MOST_SAMPLED = 200;

async function* mapRows(
  file: string,
  records: AsyncIterable<FileRecord>,
  { grader, prompts }: { readonly grader: PlainGrader | undefined; readonly prompts: Prompts },
): AsyncGenerator<DataRow> {
  const iterator = records[Symbol.asyncIterator]();
  const sample: FileRecord[] = [];
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    sample.push(next.value);
    if (sample.length === MOST_SAMPLED) break;
  }
  const format = detectFormat(file, sample, grader);
  async function* all(): AsyncGenerator<FileRecord> {
    yield* sample;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  for await (const record of all()) {
    const { place } = record;
    if ('problem' in record) yield { place, format, problems: [record.problem] };
    else if (format !== null) yield { place, format, ...(await map(format, record, prompts)) };
  }
}

async function map(
  { map: read, paper }: DataFormat,
  { fields, place }: Extract<FileRecord, { readonly fields: unknown }>,
  prompts: Prompts,
): Promise<Mapped> {
  try {
    const mapped = read(withQuestion(fields), place);
    if (!('question' in mapped)) return mapped;
    const plain = withOptions(mapped.question);
    const question = prompts === 'paper' && paper !== undefined ? paper.ask(plain, fields) : plain;
    const problem = await whyUnanswerable(question);
    return problem === null ? { question } : { problems: [problem] };
  } catch (error) {
    // A RangeError is a stack overflow, which only deep nesting causes.
    return { problems: [error instanceof RangeError ? 'it is nested too deep to be read' : reasonOf(error)] };
  }
}

/**
 * Recognises a set by the fields of its first record and, where others have the same, by what all of a sample hold.
 * Returns null if no record could be read.
 * @throws ConfigError if no format matches, or `grader` contradicts it
 */
function detectFormat(file: string, sample: readonly FileRecord[], grader?: PlainGrader): DataFormat | null {
  const records = sample.flatMap((record) => ('fields' in record ? [record.fields] : []));
  const [first] = records;
  if (first === undefined) return null;
  const asked = 'messages' in first ? { question: null, ...first } : first;
  const matches = ({ fields, isLike }: DataFormat): boolean =>
    fields.every((field) => field in asked) && (isLike === undefined || records.every(isLike));
  const known = [own, ...SETS].find(matches);
  if (known !== undefined && grader !== undefined) {
    throw new ConfigError(`${file} says how its answers are judged (${known.name}): leave out --grader`);
  }
  const format = known ?? [problems(grader), pairs(grader)].find(matches);
  if (format !== undefined) return format;
  const there = Object.keys(first);
  throw new ConfigError(
    `${file} is not in a format I know. Its rows have ${there.length === 0 ? 'no fields' : `the fields ${someOf(there)}`}.\n` +
      'Write an object a line: {"question": "…", "answer": "…"}, and "id", "grader" or "topic" where you want them; for a ' +
      'conversation "messages" in place of the question.\n' +
      `Sets that are read as they are: ${SETS.map(({ name }) => name).join(', ')}.`,
  );
}

/** A value and its place, `file:line`; lines count from 1. */
export interface Row<T> {
  readonly value: T;
  readonly place: string;
}

/** Reads all questions of a file, in any format. @throws ConfigError that names the first mistakes by place */
export async function readQuestionFile(file: string, grader?: PlainGrader): Promise<Row<Question>[]> {
  const rows: Row<Question>[] = [];
  const mistakes: string[] = [];
  for await (const { place, ...row } of (await openDataSet(file, grader)).rows) {
    if ('question' in row) rows.push({ value: row.question, place });
    else if ('problems' in row) mistakes.push(...row.problems.map((problem) => `${place}: ${problem}`));
  }
  refuseMistakes(mistakes);
  if (rows.length === 0) throw new ConfigError(`${file} holds no question: expected one a row`);
  return rows;
}

/** @throws ConfigError that names the first mistakes, if there are any */
export function refuseMistakes(mistakes: readonly string[]): void {
  if (mistakes.length > 0) throw new ConfigError(someOf(mistakes, '\n'));
}
