import type { AsyncBuffer, Compressors, FileMetaData } from 'hyparquet' with { 'resolution-mode': 'import' };
import { ConfigError } from '../../config/errors';
import { isRecord } from '../../plan/validate';
import { reasonOf } from '../../reason-of';
import type { FileRecord } from './open-file';

/** Of one group of rows, which is read as a whole: what a worker has room for. */
const MOST = { bytes: 2 ** 30, rows: 2_000_000 } as const;

/** Reads one group of rows after the other. A place is the number of a row, from 1. */
export async function* readParquet(
  file: string,
  { path }: { readonly path: string },
): AsyncGenerator<FileRecord> {
  try {
    const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import('hyparquet');
    const buffer = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(buffer);
    checkGroups(file, metadata, buffer);
    const compressors = await loadCompressors();
    let rowStart = 0;
    for (const { num_rows: rows } of metadata.row_groups) {
      const rowEnd = rowStart + Number(rows);
      const read = await parquetReadObjects({ file: buffer, metadata, rowStart, rowEnd, compressors });
      for (const [index, row] of read.entries()) {
        const place = `${file}, row ${rowStart + index + 1}`;
        yield { place, fields: plain(row) as Record<string, unknown> };
      }
      rowStart = rowEnd;
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${file} is a broken Parquet file: ${reasonOf(error)}; fetch it again`, {
      cause: error,
    });
  }
}

function checkGroups(file: string, { row_groups: groups }: FileMetaData, { byteLength }: AsyncBuffer): void {
  const large = groups.find(
    ({ total_byte_size: bytes, num_rows: rows }) => bytes > MOST.bytes || rows > MOST.rows,
  );
  if (large === undefined) return;
  throw new ConfigError(
    `${file} (${byteLength} bytes) has ${large.num_rows} rows in one group, of ${large.total_byte_size} bytes: ` +
      'write it with smaller ones, e.g. with row_group_size=1000 in pyarrow',
  );
}

/** Each is told how long its output is by the file, which may lie. */
async function loadCompressors(): Promise<Compressors> {
  const { compressors, decompressZstd } = await import('hyparquet-compressors');
  const all: Compressors = {
    ...compressors,
    ZSTD: (input, length) => decompressZstd(input, new Uint8Array(length)),
  };
  return Object.fromEntries(
    Object.entries(all).map(([codec, unpack]) => [
      codec,
      (input: Uint8Array, length: number): Uint8Array => {
        if (length > MOST.bytes) throw new Error(`a page of ${length} bytes`);
        return unpack(input, length);
      },
    ]),
  );
}

/** A value as JSON would have it. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}
