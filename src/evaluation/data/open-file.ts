import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ConfigError } from '../../config/errors';
import { codeOf, reasonOf } from '../../reason-of';
import { type Chunks, type FileRecord, readCsv, readJsonLines, readParquet } from './read-records';

/** A file of questions; its first bytes decide what it is, whatever it is called. */
export interface DataFile {
  /** `JSON lines, packed by gzip`. */
  readonly kind: string;
  readonly records: AsyncIterable<FileRecord>;
}

/**
 * Opens a file, relative to the folder of the process, to be read in chunks.
 *
 * @throws ConfigError with what to do where it is not there, empty, or of no kind that is read
 */
export async function openDataFile(file: string): Promise<DataFile> {
  const path = resolve(file);
  const raw = createReadStream(path, { highWaterMark: CHUNK });
  const [start, chunks] = await peek(file, raw);
  if (start.indexOf('PAR1') === 0) {
    raw.destroy();
    return { kind: 'Parquet', records: readParquet(file, path) };
  }
  if (start[0] !== 0x1f || start[1] !== 0x8b) return openText(file, start, chunks);
  const [content, unpacked] = await peek(file, gunzip(file, chunks));
  const { kind, records } = openText(file, content, unpacked);
  return { kind: `${kind}, packed by gzip`, records };
}

const CHUNK = 256 * 1024;

/** The first bytes, for a look, and all of them, to be read. */
async function peek(file: string, source: Chunks): Promise<[start: Buffer, all: Chunks]> {
  const chunks = source[Symbol.asyncIterator]();
  let [start, isOver] = [Buffer.alloc(0), false];
  // Leading white space says nothing about the file.
  while (!isOver && start.length < CHUNK && start.toString('latin1').trim().length < 16) {
    const next = await chunks.next().catch((error: unknown) => {
      throw error instanceof ConfigError ? error : unreadable(file, error);
    });
    if (next.done === true) isOver = true;
    else start = Buffer.concat([start, next.value]);
  }
  async function* all(): Chunks {
    yield start;
    if (!isOver) yield* { [Symbol.asyncIterator]: () => chunks };
  }
  return [start, all()];
}

function unreadable(file: string, cause: unknown): ConfigError {
  if (codeOf(cause) === 'EISDIR') return new ConfigError(`${file} is a folder: name a file in it`);
  return new ConfigError(
    `${file} cannot be read: ${reasonOf(cause)}; files of questions are named as the process sees them that reads them`,
    { cause },
  );
}

/** The first bytes of other files, what they are, and what to do. */
const OTHERS: readonly (readonly [start: string, what: string])[] = [
  ['PK\x03\x04', 'a zip archive: unpack it, and name a file in it'],
  ['\x28\xb5\x2f\xfd', 'packed by zstd: unpack it with "zstd -d"'],
  ['\xfd7zXZ', 'packed by xz: unpack it with "xz -d"'],
  ['BZh', 'packed by bzip2: unpack it with "bzip2 -d"'],
  ['ARROW1', "of Arrow's own format: save it as Parquet or JSON lines"],
  ['PAR1', 'a packed Parquet file: unpack it with "gzip -d"'],
  ['\xff\xfe', 'text in UTF-16: save it in UTF-8'],
  ['\xfe\xff', 'text in UTF-16: save it in UTF-8'],
  ['version https://git-lfs', 'only a pointer to a file that Git LFS keeps: fetch it with "git lfs pull"'],
  ['<', 'a web page or XML: download the file itself'],
  ['[', `one list in JSON: write an object a line, e.g. with jq -c '.[]'`],
];

function openText(file: string, start: Buffer, chunks: Chunks): DataFile {
  const text = start
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  if (text === '') {
    throw new ConfigError(`${file} holds no line: expected JSON lines, Parquet or CSV, a question a row`);
  }
  const other = OTHERS.find(([beginning]) => text.startsWith(beginning));
  if (other !== undefined) throw new ConfigError(`${file} is ${other[1]}`);
  if (text.includes('\0')) {
    throw new ConfigError(`${file} is no text: expected JSON lines (also packed by gzip), Parquet or CSV`);
  }
  if (text.startsWith('{')) return { kind: 'JSON lines', records: readJsonLines(file, chunks) };
  return { kind: 'CSV', records: readCsv(file, chunks) };
}

/** No file of questions is packed so well; smaller ones are not suspected. */
const BOMB = { times: 300, bytes: 64 * 1024 * 1024 } as const;

async function* gunzip(file: string, packed: Chunks): Chunks {
  const unpacked = createGunzip({ chunkSize: CHUNK });
  // An error ends the last stream, where it is thrown.
  pipeline(Readable.from(packed), unpacked, () => undefined);
  let bytes = 0;
  try {
    for await (const chunk of unpacked as Chunks) {
      bytes += chunk.length;
      if (bytes > BOMB.bytes && bytes > BOMB.times * unpacked.bytesWritten) {
        throw new ConfigError(
          `${file} unpacks to more than ${BOMB.times} times its size, as no questions do: if you trust it, unpack it with "gzip -d"`,
        );
      }
      yield chunk;
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${file} is broken: ${reasonOf(error)}; fetch it again`, { cause: error });
  } finally {
    unpacked.destroy();
  }
}
