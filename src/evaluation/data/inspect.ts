import type { Question } from '../../grading/question';
import { openDataSet } from './data-set';
import type { DataFormat, PlainGrader } from './format';
import { type Copy, QuestionIndex } from './question-index';

/** How many there are of each name. */
export type Tally = Readonly<Record<string, number>>;

/** How many there are, and the first of them. */
export interface Some<Each> {
  readonly count: number;
  readonly first: readonly Each[];
}

export interface Inspection {
  readonly file: string;
  /** `JSON lines, packed by gzip`. */
  readonly kind: string;
  /** The set that its rows are of; null where no row could be read. */
  readonly format: string | null;
  readonly mapping: DataFormat['mapping'];
  readonly questions: number;
  readonly graders: Tally;
  readonly topics: Tally;
  readonly levels: Tally;
  /** The first and the last; null where no question has one. */
  readonly dates: readonly [string, string] | null;
  /** Rows that are left out on purpose, by reason. */
  readonly leftOut: Tally;
  readonly badRows: number;
  /** Faults, each with its place. */
  readonly problems: Some<string>;
  /** Questions with the id of an earlier one. */
  readonly repeatedIds: Some<RepeatedId>;
  /** Questions that repeat an earlier one. */
  readonly copies: Some<Copy>;
  /** Questions that repeat one of another file. */
  readonly overlap: (Some<Copy> & { readonly file: string; readonly questions: number }) | null;
}

interface RepeatedId {
  readonly place: string;
  readonly of: string;
  readonly id: string;
}

/** Fields that are tallied. The question's text and tests are dropped, since they would fill the memory. */
type Fact = Record<'grader' | 'topic' | 'level' | 'date', string | undefined>;

/**
 * Reads a whole file of questions and reports what is in it.
 *
 * @param against another file, none of whose questions should be repeated, such as the one to judge by
 * @param grader of rows that name none
 * @throws ConfigError where one of the files cannot be read at all
 */
export async function inspectDataSet(
  file: string,
  against?: string,
  grader?: PlainGrader,
): Promise<Inspection> {
  const other = against === undefined ? null : await readIndex(against);
  const { kind, rows } = await openDataSet(file, grader);
  const facts: Fact[] = [];
  const problems: string[] = [];
  const leftOut: string[] = [];
  const repeatedIds: RepeatedId[] = [];
  const overlap: Copy[] = [];
  const ids = new Map<string, string>();
  const index = new QuestionIndex();
  let format: DataFormat | null = null;
  let badRows = 0;
  const note = ({ id, question, grader: by, topic, level, date }: Question, place: string): void => {
    facts.push({ grader: by, topic, level, date });
    const of = ids.get(id);
    if (of === undefined) ids.set(id, place);
    else repeatedIds.push({ place, of, id });
    index.add(place, question);
    const copy = other?.index.find(question);
    if (copy) overlap.push({ place, ...copy });
  };
  for await (const { place, format: of, ...row } of rows) {
    format ??= of;
    if ('question' in row) note(row.question, place);
    else if ('leftOut' in row) leftOut.push(row.leftOut);
    else {
      badRows += 1;
      problems.push(...row.problems.map((problem) => `${place}: ${problem}`));
    }
  }
  const { name = null, mapping = {} } = format ?? {};
  return {
    ...{ file, kind, format: name, mapping, questions: facts.length },
    graders: tally(facts.map(({ grader }) => grader)),
    topics: tally(facts.map(({ topic }) => topic)),
    levels: tally(facts.map(({ level }) => level)),
    dates: datesOf(facts),
    ...{ leftOut: tally(leftOut), badRows, problems: some(problems), repeatedIds: some(repeatedIds) },
    copies: some(index.copies()),
    overlap: other && { file: other.file, questions: other.questions, ...some(overlap) },
  };
}

/** The first and the last date; null where no question has one. */
function datesOf(facts: readonly Fact[]): Inspection['dates'] {
  const dates = facts.flatMap(({ date = [] }) => date).sort();
  const [first, last] = [dates[0], dates.at(-1)];
  return first === undefined || last === undefined ? null : [first, last];
}

async function readIndex(
  file: string,
): Promise<{ readonly file: string; readonly questions: number; readonly index: QuestionIndex }> {
  const index = new QuestionIndex();
  let questions = 0;
  for await (const row of (await openDataSet(file)).rows) {
    if (!('question' in row)) continue;
    questions += 1;
    index.add(row.place, row.question.question);
  }
  return { file, questions, index };
}

/** The most frequent first. */
function tally(names: readonly (string | undefined)[]): Tally {
  const counts = new Map<string, number>();
  for (const name of names) if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([, one], [, other]) => other - one));
}

const MAX_SHOWN = 20;

function some<Each>(all: readonly Each[]): Some<Each> {
  return { count: all.length, first: all.slice(0, MAX_SHOWN) };
}
