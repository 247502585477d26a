import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ConfigError } from '../../config/errors';
import { reasonOf } from '../../reason-of';

/** A file of questions as its first bytes show it, whatever it is called. */
export type DataFile =
  | { readonly kind: 'Parquet'; readonly path: string; readonly bytes: number }
  | {
      readonly kind: 'JSON lines' | 'CSV';
      readonly isGzipped: boolean;
      readonly chunks: AsyncIterable<Buffer>;
    };

/** One record of a file, before anything is made of it, or what is wrong with it. */
export type FileRecord = { readonly place: string } & (
  { readonly fields: Readonly<Record<string, unknown>> } | { readonly problem: string }
);

/**
 * Opens a file, relative to the folder of the process. Of its bytes no more than a chunk is kept.
 *
 * @throws ConfigError with what to do where it is not there, empty, or of no kind that is read
 */
export async function openDataFile(file: string): Promise<DataFile> {
  const path = resolve(file);
  const { size, isFolder } = await measure(file, path);
  if (isFolder) throw new ConfigError(`${file} is a folder: name a file in it`);
  const raw = createReadStream(path, { highWaterMark: CHUNK });
  const [start, chunks] = await peek(file, raw);
  if (start.indexOf('PAR1') === 0) {
    raw.destroy();
    return { kind: 'Parquet', path, bytes: size };
  }
  const isGzipped = start[0] === 0x1f && start[1] === 0x8b;
  if (!isGzipped) return { kind: textKind(file, start), isGzipped, chunks };
  const [content, unpacked] = await peek(file, gunzip(file, chunks));
  return { kind: textKind(file, content), isGzipped, chunks: unpacked };
}

const CHUNK = 256 * 1024;

async function measure(file: string, path: string): Promise<{ size: number; isFolder: boolean }> {
  try {
    const stats = await stat(path);
    return { size: stats.size, isFolder: stats.isDirectory() };
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): ConfigError {
  return new ConfigError(
    `${file} cannot be read: ${reasonOf(error)}; files of questions are named as the process sees them that reads them`,
    { cause: error },
  );
}

type Chunks = AsyncIterable<Buffer>;

/** The first bytes, for a look, and all of them, to be read. */
async function peek(file: string, source: Chunks): Promise<[start: Buffer, all: Chunks]> {
  const chunks = source[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  let isOver = false;
  // White space may be as long as it likes before anything tells what the file is.
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

/** What such a file begins with, what it is, and what to do. */
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

function textKind(file: string, start: Buffer): 'JSON lines' | 'CSV' {
  const bytes = start.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  const text = bytes.trimStart();
  if (text === '') {
    throw new ConfigError(`${file} holds no line: expected JSON lines, Parquet or CSV, a question a row`);
  }
  const other = OTHERS.find(([beginning]) => text.startsWith(beginning));
  if (other !== undefined) throw new ConfigError(`${file} is ${other[1]}`);
  if (text.includes('\0')) {
    throw new ConfigError(`${file} is no text: expected JSON lines (also packed by gzip), Parquet or CSV`);
  }
  return text.startsWith('{') ? 'JSON lines' : 'CSV';
}

/** No file of questions is packed so well, and so much is done in a second. */
const MOST_TIMES = 300;
const UNSUSPECTED = 64 * 1024 * 1024;

async function* gunzip(file: string, packed: Chunks): Chunks {
  let [before, after] = [0, 0];
  async function* counted(): Chunks {
    for await (const chunk of packed) {
      before += chunk.length;
      yield chunk;
    }
  }
  // What goes wrong ends the last stream, where it is thrown.
  const unpacked = pipeline(Readable.from(counted()), createGunzip({ chunkSize: CHUNK }), () => undefined);
  try {
    for await (const chunk of unpacked as Chunks) {
      after += chunk.length;
      if (after > UNSUSPECTED && after > MOST_TIMES * before) throw new ConfigError(describeBomb(file));
      yield chunk;
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${file} is broken: ${reasonOf(error)}; fetch it again`, { cause: error });
  } finally {
    unpacked.destroy();
  }
}

function describeBomb(file: string): string {
  return `${file} unpacks to more than ${MOST_TIMES} times its size, as no questions do: if you trust it, unpack it with "gzip -d"`;
}
