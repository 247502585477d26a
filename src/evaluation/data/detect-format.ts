import { ConfigError, someOf } from '../../config/errors';
import type { DataFormat } from './format';
import { bigCodeBench, liveCodeBench } from './formats/code';
import { aime, aimeInCapitals, math, math500 } from './formats/mathematics';
import { gpqa, mmlu } from './formats/multiple-choice';
import { own } from './formats/own';
import { rlpr } from './formats/rlpr';

/** Where a format has all fields of another, it comes first. */
const SETS = [gpqa, rlpr, liveCodeBench, bigCodeBench, mmlu, math500, math, aime];
const FORMATS: readonly DataFormat[] = [own, ...SETS, aimeInCapitals];

/**
 * The format of a file, by the fields of its first record.
 *
 * @throws ConfigError where they are those of none
 */
export function detectFormat(file: string, record: Readonly<Record<string, unknown>>): DataFormat {
  const format = FORMATS.find(({ fields }) => fields.every((field) => field in record));
  if (format !== undefined) return format;
  const there = Object.keys(record);
  const known = SETS.map(({ name, fields }) => `${name} (${fields.join(', ')})`);
  throw new ConfigError(
    `${file} is of no known set: its rows have ${there.length === 0 ? 'no fields' : `the fields ${someOf(there)}`}; ` +
      `expected id, question, grader and answer, or the fields of ${known.join(', ')}`,
  );
}
