import { ConfigError, someOf } from '../../config/errors';
import type { DataFormat } from './format';
import { bigCodeBench, liveCodeBench } from './formats/code';
import { aime, aimeInCapitals, math, math500 } from './formats/mathematics';
import { gpqa, mmlu } from './formats/multiple-choice';
import { own } from './formats/own';
import { pairs, type PlainGrader } from './formats/pairs';
import { rlpr } from './formats/rlpr';

/** Where a format has all fields of another, it comes first. */
const SETS = [gpqa, rlpr, liveCodeBench, bigCodeBench, mmlu, math500, math, aime];
const FORMATS: readonly DataFormat[] = [own, ...SETS, aimeInCapitals];

/**
 * The format of a file, by the fields of its first record.
 *
 * @param grader of rows that name none
 * @throws ConfigError where they are those of none
 */
export function detectFormat(
  file: string,
  record: Readonly<Record<string, unknown>>,
  grader?: PlainGrader,
): DataFormat {
  const hasAll = ({ fields }: DataFormat): boolean => fields.every((field) => field in record);
  const known = FORMATS.find(hasAll);
  if (known !== undefined && grader !== undefined) {
    throw new ConfigError(`${file} says how its answers are judged (${known.name}): leave out --grader`);
  }
  const format = known ?? [pairs(grader)].find(hasAll);
  if (format !== undefined) return format;
  const there = Object.keys(record);
  const sets = SETS.map(({ name }) => name).join(', ');
  throw new ConfigError(
    `${file} is not in a format I know. Its rows have ${there.length === 0 ? 'no fields' : `the fields ${someOf(there)}`}.\n` +
      'Write an object a line: {"question": "…", "answer": "…"}, and "id", "grader" or "topic" where you want them.\n' +
      `Sets that are read as they are: ${sets}.`,
  );
}
