import { Readable } from 'node:stream';
import { type CsvError, type Info, parse } from 'csv-parse';
import { ConfigError } from '../../config/errors';
import { codeOf, reasonOf } from '../../reason-of';
import type { FileRecord } from './open-file';

/** Of one row. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Out of place in a file: for each, the parser copies the value that it stands in. */
const MOST_QUOTES = 1000;

interface Row {
  readonly record: readonly string[];
  readonly info: Pick<Info, 'lines'>;
}

/** Reads rows below a line of names. A place is the line that a row ends in. */
export async function* readCsv(file: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<FileRecord> {
  const skipped: FileRecord[] = [];
  let quotes = 0;
  const rows = Readable.from(chunks).compose(
    parse({
      bom: true,
      info: true,
      max_record_size: MOST_BYTES,
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_error: true,
      on_skip: (error) => {
        const place = placeOf(file, error);
        // Of each quote that is out of place; a row is told of once.
        if (skipped.at(-1)?.place !== place) skipped.push({ place, problem: describe(error) });
        quotes += 1;
        if (quotes > MOST_QUOTES) throw new ConfigError(describeQuotes(place));
      },
    }),
  ) as AsyncIterable<Row>;
  let names: readonly string[] | null = null;
  try {
    for await (const { record, info } of rows) {
      yield* skipped.splice(0);
      if (names === null) names = checkNames(file, record);
      else yield { place: `${file}:${info.lines}`, ...readRow(record, names) };
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${file} cannot be read as CSV: ${reasonOf(error)}`, { cause: error });
  }
  yield* skipped;
}

function placeOf(file: string, error: CsvError | undefined): string {
  return typeof error?.lines === 'number' ? `${file}:${error.lines}` : file;
}

function describe(error: CsvError | undefined): string {
  switch (codeOf(error)) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'a quote that was opened is closed nowhere: close it';
    case 'CSV_MAX_RECORD_SIZE':
      return `a row has at most ${MOST_BYTES / 1024 / 1024} MB: is a quote closed nowhere?`;
    default:
      return 'a quote stands where none may: put quotes around the whole value, and write each within it twice';
  }
}

function describeQuotes(place: string): string {
  return (
    `${place}: by here, more than ${MOST_QUOTES} quotes stand where none may: ` +
    'if the file is CSV, put quotes around each whole value, and write each within it twice'
  );
}

function checkNames(file: string, names: readonly string[]): readonly string[] {
  if (names.length < 2) {
    throw new ConfigError(
      `${file} is neither JSON lines nor CSV: its first line holds no names of columns with commas between them`,
    );
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return names;
  throw new ConfigError(
    `${file} has two columns ${JSON.stringify(twice)}: give each a name of its own, in the first line`,
  );
}

/** An empty value is none. */
function readRow(
  values: readonly string[],
  names: readonly string[],
): { readonly fields: Record<string, unknown> } | { readonly problem: string } {
  if (values.length !== names.length) {
    return {
      problem: `it has ${values.length} values where the first line names ${names.length}: put quotes around a value with a comma`,
    };
  }
  if (values.some((value) => value.includes('\uFFFD')))
    return { problem: 'this is not in UTF-8: save the file in it' };
  const pairs = names.map((name, index): [string, unknown] => [name, values[index]]);
  return { fields: Object.fromEntries(pairs.filter(([, value]) => value !== '')) };
}
