import { reasonOf } from '../../reason-of';
import { readCsv } from './csv';
import { detectFormat } from './detect-format';
import type { DataFormat, Mapped } from './format';
import type { PlainGrader } from './formats/pairs';
import { readJsonLines } from './json-lines';
import { type DataFile, type FileRecord, openDataFile } from './open-file';
import { readParquet } from './parquet';

/** One row of a file: its question, why it is left out, or what is wrong with it. */
export type DataRow = Mapped & {
  /** `file:line`, or `file, row number` in Parquet, from 1. */
  readonly place: string;
  /** null as long as no row could be read. */
  readonly format: DataFormat | null;
};

/** A file of questions, of which a row is kept at a time. */
export interface DataSet {
  readonly file: string;
  /** `JSON lines, packed by gzip`. */
  readonly kind: string;
  readonly rows: AsyncIterable<DataRow>;
}

/**
 * Opens a file of questions, relative to the folder of the process: JSON lines, Parquet or CSV, of our own or of a data set
 * that is known by its fields.
 *
 * @param grader of rows that name none
 * @throws ConfigError with what to do, while it is read as well
 */
export async function openDataSet(file: string, grader?: PlainGrader): Promise<DataSet> {
  const opened = await openDataFile(file);
  const isGzipped = opened.kind !== 'Parquet' && opened.isGzipped;
  const kind = isGzipped ? `${opened.kind}, packed by gzip` : opened.kind;
  return { file, kind, rows: mapRows(file, readRecords(file, opened), grader) };
}

/** One after the other: however large the file is, one record and a chunk of it are kept, of Parquet a group of rows. */
function readRecords(file: string, opened: DataFile): AsyncIterable<FileRecord> {
  if (opened.kind === 'Parquet') return readParquet(file, opened);
  return opened.kind === 'CSV' ? readCsv(file, opened.chunks) : readJsonLines(file, opened.chunks);
}

async function* mapRows(
  file: string,
  records: AsyncIterable<FileRecord>,
  grader: PlainGrader | undefined,
): AsyncGenerator<DataRow> {
  let format: DataFormat | null = null;
  for await (const record of records) {
    const { place } = record;
    if ('problem' in record) yield { place, format, problems: [record.problem] };
    else {
      format ??= detectFormat(file, record.fields, grader);
      yield { place, format, ...map(format, record.fields, place) };
    }
  }
}

function map(format: DataFormat, fields: Readonly<Record<string, unknown>>, place: string): Mapped {
  try {
    return format.map(fields, place);
  } catch (error) {
    // Only nesting without end lets a schema overflow.
    return { problems: [error instanceof RangeError ? 'it is nested too deep to be read' : reasonOf(error)] };
  }
}
