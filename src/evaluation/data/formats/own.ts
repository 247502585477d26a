import { type DataFormat, toQuestion } from '../format';

/** What a cell of CSV can hold as JSON alone. */
const NO_TEXTS = ['options', 'tests', 'tolerance', 'caseSensitive', 'timeoutSeconds'];

/** The row that everything else is made into. */
export const own: DataFormat = {
  name: 'rows of our own',
  fields: ['question', 'grader'],
  mapping: {},
  map: (record) =>
    toQuestion(Object.fromEntries(Object.entries(record).map(([key, value]) => [key, read(key, value)]))),
};

function read(key: string, value: unknown): unknown {
  if (typeof value !== 'string' || !NO_TEXTS.includes(key)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
