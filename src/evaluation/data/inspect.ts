import type { Question } from '../../grading/question';
import { type DataRow, openDataSet } from './data-set';
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
  readonly repeatedIds: Some<{ readonly place: string; readonly of: string; readonly id: string }>;
  /** Questions that repeat an earlier one. */
  readonly copies: Some<Copy>;
  /** Questions that repeat one of another file. */
  readonly overlap: (Some<Copy> & { readonly file: string; readonly questions: number }) | null;
}

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
  const [graders, topics, levels, leftOut] = [new Counter(), new Counter(), new Counter(), new Counter()];
  const [problems, overlap] = [new Collection<string>(), new Collection<Copy>()];
  const repeatedIds = new Collection<Inspection['repeatedIds']['first'][number]>();
  const ids = new Map<string, string>();
  const index = new QuestionIndex();
  let format: DataFormat | null = null;
  let dates: Inspection['dates'] = null;
  let [questions, badRows] = [0, 0];
  const note = ({ id, question, grader, topic, level, date }: Question, place: string): void => {
    questions += 1;
    graders.add(grader);
    topics.add(topic);
    levels.add(level);
    if (date !== undefined) dates = widen(dates, date);
    const of = ids.get(id);
    if (of === undefined) ids.set(id, place);
    else repeatedIds.add({ place, of, id });
    index.add(place, question);
    const copy = other?.index.find(question);
    if (copy) overlap.add({ place, ...copy });
  };
  const noteProblems = (row: Extract<DataRow, { problems: unknown }>): void => {
    badRows += 1;
    for (const problem of row.problems) problems.add(`${row.place}: ${problem}`);
  };
  for await (const row of rows) {
    format ??= row.format;
    if ('question' in row) note(row.question, row.place);
    else if ('leftOut' in row) leftOut.add(row.leftOut);
    else noteProblems(row);
  }
  const { name = null, mapping = {} } = format ?? {};
  const copies = index.copies();
  return {
    ...{ file, kind, format: name, mapping, questions, dates, badRows },
    ...{ graders: graders.tally(), topics: topics.tally(), levels: levels.tally(), leftOut: leftOut.tally() },
    ...{ problems: problems.some(), repeatedIds: repeatedIds.some() },
    copies: { count: copies.length, first: copies.slice(0, MAX_SHOWN) },
    overlap: other && { ...other.summary, ...overlap.some() },
  };
}

function widen(dates: Inspection['dates'], date: string): readonly [string, string] {
  const [first, last] = dates ?? [date, date];
  return [date < first ? date : first, date > last ? date : last];
}

interface Indexed {
  readonly index: QuestionIndex;
  readonly summary: { readonly file: string; readonly questions: number };
}

async function readIndex(file: string): Promise<Indexed> {
  const index = new QuestionIndex();
  let questions = 0;
  for await (const row of (await openDataSet(file)).rows) {
    if (!('question' in row)) continue;
    questions += 1;
    index.add(row.place, row.question.question);
  }
  return { index, summary: { file, questions } };
}

/** A set has fewer topics; a column with more names holds something else. */
const MAX_NAMES = 1000;

class Counter {
  private readonly counts = new Map<string, number>();

  add(name: string | undefined): void {
    if (name === undefined) return;
    const counted = this.counts.has(name) || this.counts.size < MAX_NAMES ? name : 'others';
    this.counts.set(counted, (this.counts.get(counted) ?? 0) + 1);
  }

  tally(): Tally {
    return Object.fromEntries([...this.counts].sort(([, one], [, other]) => other - one));
  }
}

const MAX_SHOWN = 20;

class Collection<Each> {
  private count = 0;
  private readonly first: Each[] = [];

  add(each: Each): void {
    this.count += 1;
    if (this.first.length < MAX_SHOWN) this.first.push(each);
  }

  some(): Some<Each> {
    return { count: this.count, first: this.first };
  }
}
