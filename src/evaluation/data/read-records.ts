import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Info } from 'csv-parse';
import { ConfigError } from '../../config/errors';
import { codeOf, needsPackages, reasonOf } from '../../errors';
import { isRecord } from '../../plan/validate';
import { whyUnreadable } from '../../runtime/unreadable-file';

type Read = { readonly fields: Readonly<Record<string, unknown>> } | { readonly problem: string };

/** Record of a file, or its problem. A place is `file:line`, or `file, row number` in Parquet, counted from 1. */
export type FileRecord = Read & { readonly place: string };

/** File of questions; its first bytes, not its name, decide its format. */
interface DataFile {
  /** For example `JSON lines, packed by gzip`. */
  readonly kind: string;
  readonly records: AsyncIterable<FileRecord>;
}

type Chunks = AsyncIterable<Buffer>;

/** Opens a file, relative to the working directory. @throws ConfigError for an unsupported format */
export async function openDataFile(file: string): Promise<DataFile> {
  const path = resolve(file);
  const raw = createReadStream(path);
  const [start, chunks] = await peek(file, raw);
  if (start.indexOf('PAR1') === 0) {
    raw.destroy();
    return { kind: 'Parquet', records: readParquet(file, path) };
  }
  if (start[0] !== 0x1f || start[1] !== 0x8b) return openText(file, start, chunks);
  const gunzip = createGunzip();
  // Errors destroy the last stream, whose reader throws them.
  pipeline(Readable.from(chunks), gunzip, () => undefined);
  const { kind, records } = openText(file, ...(await peek(file, gunzip)));
  return { kind: `${kind}, packed by gzip`, records };
}

/** Returns the first chunk, to detect the format, and a stream of all chunks. */
async function peek(file: string, source: Chunks): Promise<[start: Buffer, all: Chunks]> {
  const chunks = readable(file, source);
  const { value: start = Buffer.alloc(0) } = await chunks.next();
  async function* all(): Chunks {
    yield start;
    yield* chunks;
  }
  return [start, all()];
}

async function* readable(file: string, chunks: Chunks): AsyncGenerator<Buffer, undefined> {
  try {
    yield* chunks;
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    const code = String(codeOf(cause));
    if (code === 'EISDIR') throw new ConfigError(`${file} is a folder: name a file in it`, { cause });
    throw new ConfigError(
      code.startsWith('Z_')
        ? `${file} is broken: ${reasonOf(cause)}; fetch it again`
        : whyUnreadable(file, cause),
      { cause },
    );
  }
}

/** First bytes of unsupported files, and what to do with them. */
const OTHERS: readonly (readonly [starts: readonly string[], what: string])[] = [
  [
    ['PK\x03\x04', '\x28\xb5\x2f\xfd', '\xfd7zXZ', 'BZh', 'PAR1'],
    'packed: unpack it, and name the file in it',
  ],
  [['\xff\xfe', '\xfe\xff'], 'text in UTF-16: save it as UTF-8'],
  [['version https://git-lfs'], 'only a pointer to a file that Git LFS keeps: fetch it with "git lfs pull"'],
  [['<'], 'a web page or XML: download the file itself'],
  [['['], `one list in JSON: write one object per line, e.g. with jq -c '.[]'`],
];
const NO_TEXT = 'not text: expected JSON lines (also packed by gzip), Parquet or CSV';

function openText(file: string, start: Buffer, chunks: Chunks): DataFile {
  const text = start
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  if (text === '') {
    throw new ConfigError(`${file} holds no line: expected JSON lines, Parquet or CSV, one question per row`);
  }
  const [, other] = OTHERS.find(([starts]) => starts.some((each) => text.startsWith(each))) ?? [];
  const what = other ?? (text.includes('\0') ? NO_TEXT : null);
  if (what !== null) throw new ConfigError(`${file} is ${what}`);
  if (text.startsWith('{')) return { kind: 'JSON lines', records: readJsonLines(file, chunks) };
  return { kind: 'CSV', records: readCsv(file, chunks) };
}

const NOT_UTF8 = 'this is not UTF-8: save the file as UTF-8';
const UTF8 = new TextDecoder('utf-8', { fatal: true });

async function* readJsonLines(file: string, chunks: Chunks): AsyncGenerator<FileRecord> {
  // Latin-1 keeps each byte, so that a line of invalid UTF-8 affects no other line.
  const input = Readable.from(chunks, { objectMode: false, encoding: 'latin1' });
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    number += 1;
    const read = readLine(Buffer.from(line, 'latin1'));
    if (read !== null) yield { place: `${file}:${number}`, ...read };
  }
}

function readLine(line: Buffer): Read | null {
  try {
    const text = UTF8.decode(line);
    if (text.trim() === '') return null;
    const fields: unknown = JSON.parse(text);
    return isRecord(fields) ? { fields } : { problem: 'this is not an object: write one object per line' };
  } catch (error) {
    return {
      problem: error instanceof SyntaxError ? 'this is not JSON: write one object per line' : NOT_UTF8,
    };
  }
}

/** Limit that keeps a quote that is never closed from filling the memory. */
const MAX_ROW_BYTES = 64 * 1024 * 1024;

async function* readCsv(file: string, chunks: Chunks): AsyncGenerator<FileRecord> {
  const { parse } = await import('csv-parse');
  const options = { bom: true, info: true, max_record_size: MAX_ROW_BYTES, skip_empty_lines: true } as const;
  const parser = parse({ ...options, relax_column_count: true, relax_quotes: true });
  let names: readonly string[] | null = null;
  try {
    const rows = Readable.from(chunks).compose(parser) as AsyncIterable<{ record: string[]; info: Info }>;
    for await (const { record, info } of rows) {
      if (names === null) names = checkNames(file, record);
      else yield { place: `${file}:${info.lines}`, ...readRow(record, names) };
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const problem = `this cannot be read as CSV: ${reasonOf(error)}`;
    yield { place: `${file}:${parser.info.lines}`, problem };
  }
}

function checkNames(file: string, names: readonly string[]): readonly string[] {
  if (names.length < 2) {
    throw new ConfigError(
      `${file} is neither JSON lines nor CSV: its first line has no column names separated by commas`,
    );
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return names;
  throw new ConfigError(`${file} has two columns ${JSON.stringify(twice)}: give each its own name`);
}

/** Reads a row of CSV; an empty value counts as absent. */
function readRow(values: readonly string[], names: readonly string[]): Read {
  const [found, named] = [values.length, names.length];
  if (found !== named) {
    return {
      problem: `it has ${found} values, but the first line names ${named}: put quotes around a value with a comma`,
    };
  }
  if (values.some((value) => value.includes('\uFFFD'))) return { problem: NOT_UTF8 };
  const pairs = names.map((name, index) => [name, values[index]] as const);
  return { fields: Object.fromEntries(pairs.filter(([, value]) => value !== '')) };
}

async function* readParquet(file: string, path: string): AsyncGenerator<FileRecord> {
  const packages = Promise.all([import('hyparquet'), import('hyparquet-compressors')]);
  const [{ asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, toJson }, { compressors }] =
    await packages.catch(missing(file));
  try {
    const buffer = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(buffer);
    let rowStart = 0;
    for (const { num_rows } of metadata.row_groups) {
      const rowEnd = rowStart + Number(num_rows);
      const rows = await parquetReadObjects({ file: buffer, metadata, rowStart, rowEnd, compressors });
      for (const row of rows) {
        rowStart += 1;
        yield { place: `${file}, row ${rowStart}`, fields: toJson(row) as Record<string, unknown> };
      }
    }
  } catch (cause) {
    throw new ConfigError(`${file} is a broken Parquet file: ${reasonOf(cause)}; fetch it again`, { cause });
  }
}

/** Returns a handler that names the missing packages, optional peer dependencies since few files are Parquet. */
function missing(file: string): (cause: unknown) => never {
  return (cause) => {
    if (!String(codeOf(cause)).endsWith('MODULE_NOT_FOUND')) throw cause;
    const packages = ['hyparquet@1', 'hyparquet-compressors@1'];
    throw new ConfigError(needsPackages(`${file} is Parquet, which`, packages), { cause });
  };
}
