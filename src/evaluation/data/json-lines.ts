import { isRecord } from '../../plan/validate';
import type { FileRecord } from './open-file';

/** Of one line. LiveCodeBench's longest, with all their tests, take a quarter. */
const MOST_BYTES = 256 * 1024 * 1024;

/** Reads an object a line; empty lines are passed over. */
export async function* readJsonLines(
  file: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<FileRecord> {
  let number = 0;
  for await (const line of linesOf(chunks)) {
    number += 1;
    const place = `${file}:${number}`;
    const text = line === null ? null : decode(line);
    if (text === null) yield { place, problem: `a line has at most ${MOST_BYTES / 1024 / 1024} MB` };
    else if (text === undefined) yield { place, problem: 'this is not in UTF-8: save the file in it' };
    else if (text.trim() !== '') yield { place, ...readObject(text) };
  }
}

function readObject(text: string): { fields: Record<string, unknown> } | { problem: string } {
  try {
    const fields: unknown = JSON.parse(text);
    return isRecord(fields) ? { fields } : { problem: 'this is no object: write one object a line' };
  } catch {
    return { problem: 'this is no JSON: write one object a line' };
  }
}

function decode(line: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(line);
  } catch {
    return undefined;
  }
}

/** Lines without their ends; null for one that is too long, of which nothing is kept. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer | null> {
  let parts: Buffer[] = [];
  let length = 0;
  const add = (part: Buffer): void => {
    length += part.length;
    if (length <= MOST_BYTES) parts.push(part);
    else parts = [];
  };
  const take = (): Buffer | null => {
    const line = length > MOST_BYTES ? null : Buffer.concat(parts);
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, end));
      yield take();
      from = end + 1;
    }
    add(chunk.subarray(from));
  }
  if (length > 0) yield take();
}
