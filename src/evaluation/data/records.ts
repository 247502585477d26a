import { readCsv } from './csv';
import { readJsonLines } from './json-lines';
import { type FileRecord, openDataFile } from './open-file';
import { readParquet } from './parquet';

export interface Records {
  /** `JSON lines, packed by gzip`. */
  readonly kind: string;
  readonly records: AsyncIterable<FileRecord>;
}

/**
 * The records of a file of JSON lines, Parquet or CSV, one after the other: however large it is, one record and a chunk of
 * the file are kept, of Parquet a group of rows.
 *
 * @throws ConfigError with what to do, while it is read as well
 */
export async function openRecords(file: string): Promise<Records> {
  const opened = await openDataFile(file);
  if (opened.kind === 'Parquet') return { kind: opened.kind, records: readParquet(file, opened) };
  const read = opened.kind === 'CSV' ? readCsv : readJsonLines;
  return {
    kind: opened.isGzipped ? `${opened.kind}, packed by gzip` : opened.kind,
    records: read(file, opened.chunks),
  };
}
