import { Readable } from 'node:stream';
import type { Info } from 'csv-parse';
import type { Compressors } from 'hyparquet' with { 'resolution-mode': 'import' };
import { ConfigError } from '../../config/errors';
import { needsPackages } from '../../explain';
import { isRecord } from '../../plan/validate';
import { codeOf, reasonOf } from '../../reason-of';

/** One record of a file, or what is wrong with it. A place is `file:line`, or `file, row number` in Parquet, from 1. */
export type FileRecord = { readonly place: string } & (
  { readonly fields: Readonly<Record<string, unknown>> } | { readonly problem: string }
);

export type Chunks = AsyncIterable<Buffer>;

/** The longest line. LiveCodeBench's longest, with all their tests, take a quarter of it. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;
const NOT_UTF8 = 'this is not in UTF-8: save the file in it';
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Reads an object a line; empty lines are passed over. */
export async function* readJsonLines(file: string, chunks: Chunks): AsyncGenerator<FileRecord> {
  let number = 0;
  for await (const line of linesOf(chunks)) {
    number += 1;
    const read = readLine(line);
    if (read !== null) yield { place: `${file}:${number}`, ...read };
  }
}

function readLine(line: Buffer | null): { fields: Record<string, unknown> } | { problem: string } | null {
  if (line === null) return { problem: `a line has at most ${MAX_LINE_BYTES / 1024 / 1024} MB` };
  try {
    const text = UTF8.decode(line);
    if (text.trim() === '') return null;
    const fields: unknown = JSON.parse(text);
    return isRecord(fields) ? { fields } : { problem: 'this is no object: write one object a line' };
  } catch (error) {
    return { problem: error instanceof SyntaxError ? 'this is no JSON: write one object a line' : NOT_UTF8 };
  }
}

/** Lines without their ends; null in place of one that is too long. */
async function* linesOf(chunks: Chunks): AsyncGenerator<Buffer | null> {
  let [parts, length]: [Buffer[], number] = [[], 0];
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length;) {
      const end = chunk.indexOf(10, from);
      const part = chunk.subarray(from, end === -1 ? undefined : end);
      length += part.length;
      if (length <= MAX_LINE_BYTES) parts.push(part);
      from += part.length + 1;
      if (end === -1) break;
      yield length > MAX_LINE_BYTES ? null : Buffer.concat(parts);
      [parts, length] = [[], 0];
    }
  }
  if (length > 0) yield length > MAX_LINE_BYTES ? null : Buffer.concat(parts);
}

/** The longest row of CSV: a quote that is never closed must not fill the memory. */
const MAX_ROW_BYTES = 64 * 1024 * 1024;

interface CsvRow {
  readonly record: readonly string[];
  readonly info: Info;
}

/** Reads rows below a line of names. A place is the line that a row ends in. */
export async function* readCsv(file: string, chunks: Chunks): AsyncGenerator<FileRecord> {
  const { parse } = await import('csv-parse').catch(missing(file, 'CSV', ['csv-parse@7']));
  const options = { bom: true, info: true, max_record_size: MAX_ROW_BYTES, skip_empty_lines: true } as const;
  const parser = parse({ ...options, relax_column_count: true, relax_quotes: true });
  let names: readonly string[] | null = null;
  try {
    const rows = Readable.from(chunks).compose(parser) as AsyncIterable<CsvRow>;
    for await (const { record, info } of rows) {
      if (names === null) names = checkNames(file, record);
      else yield { place: `${file}:${info.lines}`, ...readRow(record, names) };
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    yield {
      place: `${file}:${parser.info.lines}`,
      problem: `this cannot be read as CSV: ${reasonOf(error)}`,
    };
  }
}

function checkNames(file: string, names: readonly string[]): readonly string[] {
  if (names.length < 2) {
    throw new ConfigError(
      `${file} is neither JSON lines nor CSV: its first line holds no names of columns with commas between them`,
    );
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return names;
  throw new ConfigError(`${file} has two columns ${JSON.stringify(twice)}: give each a name of its own`);
}

/** An empty value counts as absent. */
function readRow(
  values: readonly string[],
  names: readonly string[],
): { readonly fields: Record<string, unknown> } | { readonly problem: string } {
  if (values.length !== names.length) {
    return {
      problem: `it has ${values.length} values where the first line names ${names.length}: put quotes around a value with a comma`,
    };
  }
  if (values.some((value) => value.includes('\uFFFD'))) return { problem: NOT_UTF8 };
  const pairs = names.map((name, index): [string, unknown] => [name, values[index]]);
  return { fields: Object.fromEntries(pairs.filter(([, value]) => value !== '')) };
}

/** A group of rows is read as a whole: the largest that a worker has room for. */
const MAX_GROUP = { bytes: 2 ** 30, rows: 2_000_000 } as const;

/** Reads one group of rows after the other. */
export async function* readParquet(file: string, path: string): AsyncGenerator<FileRecord> {
  const packages = Promise.all([import('hyparquet'), import('hyparquet-compressors')]);
  const [{ asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, toJson }, codecs] =
    await packages.catch(missing(file, 'Parquet', ['hyparquet@1', 'hyparquet-compressors@1']));
  try {
    const buffer = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(buffer);
    const large = metadata.row_groups.find(
      ({ total_byte_size, num_rows }) => total_byte_size > MAX_GROUP.bytes || num_rows > MAX_GROUP.rows,
    );
    if (large !== undefined) {
      throw new ConfigError(
        `${file} has ${large.num_rows} rows in one group, of ${large.total_byte_size} bytes: ` +
          'write it with smaller ones, e.g. with row_group_size=1000 in pyarrow',
      );
    }
    const compressors = bounded({
      ...codecs.compressors,
      ZSTD: (input, length) => codecs.decompressZstd(input, new Uint8Array(length)),
    });
    let rowStart = 0;
    for (const { num_rows } of metadata.row_groups) {
      const rowEnd = rowStart + Number(num_rows);
      const read = await parquetReadObjects({ file: buffer, metadata, rowStart, rowEnd, compressors });
      for (const row of read) {
        rowStart += 1;
        yield { place: `${file}, row ${rowStart}`, fields: toJson(row) as Record<string, unknown> };
      }
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const reason = `${file} is a broken Parquet file: ${reasonOf(error)}; fetch it again`;
    throw new ConfigError(reason, { cause: error });
  }
}

/** The file itself says how long its pages are, and may lie. */
function bounded(compressors: Compressors): Compressors {
  const entries = Object.entries(compressors).map(([codec, unpack]) => [
    codec,
    (input: Uint8Array, length: number): Uint8Array => {
      if (length > MAX_GROUP.bytes) throw new Error(`a page of ${length} bytes`);
      return unpack(input, length);
    },
  ]);
  return Object.fromEntries(entries) as Compressors;
}

/** The libraries are optional peer dependencies: a worker reads no such files. */
function missing(file: string, kind: string, packages: readonly string[]): (cause: unknown) => never {
  return (cause) => {
    if (!String(codeOf(cause)).endsWith('MODULE_NOT_FOUND')) throw cause;
    throw new ConfigError(needsPackages(`${file} is ${kind}, which`, packages), { cause });
  };
}
