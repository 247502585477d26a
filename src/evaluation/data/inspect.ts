import type { Question } from '../../grading/question';
import { type DataRow, openDataSet } from './data-set';
import type { DataFormat, Mapping } from './format';
import type { PlainGrader } from './formats/pairs';
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
  readonly mapping: Mapping;
  readonly questions: number;
  readonly graders: Tally;
  readonly topics: Tally;
  readonly levels: Tally;
  /** The first and the last; null where no question has one. */
  readonly dates: readonly [string, string] | null;
  /** Rows that are left out on purpose, by reason. */
  readonly leftOut: Tally;
  readonly badRows: number;
  /** What is wrong with them, each with its place. */
  readonly problems: Some<string>;
  /** Questions with the id of an earlier one. */
  readonly repeatedIds: Some<{ readonly place: string; readonly of: string; readonly id: string }>;
  /** Questions that repeat an earlier one. */
  readonly copies: Some<Copy>;
  /** Questions that repeat one of another file. */
  readonly overlap: (Some<Copy> & { readonly file: string; readonly questions: number }) | null;
}

/**
 * Reads a file of questions as a whole, and says what is in it.
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
  const other = against === undefined ? null : { file: against, ...(await indexOf(against)) };
  const { kind, rows } = await openDataSet(file, grader);
  const findings = new Findings(other?.index ?? null);
  for await (const row of rows) findings.note(row);
  const { overlap, ...rest } = findings.summary();
  return {
    file,
    kind,
    ...rest,
    overlap: other && { file: other.file, questions: other.questions, ...overlap },
  };
}

async function indexOf(file: string): Promise<{ questions: number; index: QuestionIndex }> {
  const index = new QuestionIndex();
  let questions = 0;
  for await (const row of (await openDataSet(file)).rows) {
    if (!('question' in row)) continue;
    questions += 1;
    index.add(row.place, row.question.question);
  }
  return { questions, index };
}

class Findings {
  private format: DataFormat | null = null;
  private questions = 0;
  private badRows = 0;
  private readonly graders = new Counter();
  private readonly topics = new Counter();
  private readonly levels = new Counter();
  private readonly leftOut = new Counter();
  private dates: Inspection['dates'] = null;
  private readonly problems = new Collection<string>();
  private readonly ids = new Map<string, string>();
  private readonly repeatedIds = new Collection<Inspection['repeatedIds']['first'][number]>();
  private readonly index = new QuestionIndex();
  private readonly overlap = new Collection<Copy>();

  constructor(private readonly other: QuestionIndex | null) {}

  note(row: DataRow): void {
    this.format ??= row.format;
    if ('question' in row) this.noteQuestion(row.question, row.place);
    else if ('leftOut' in row) this.leftOut.add(row.leftOut);
    else {
      this.badRows += 1;
      for (const problem of row.problems) this.problems.add(`${row.place}: ${problem}`);
    }
  }

  private noteQuestion({ id, question, grader, topic, level, date }: Question, place: string): void {
    this.questions += 1;
    this.graders.add(grader);
    this.topics.add(topic);
    this.levels.add(level);
    if (date !== undefined) this.dates = widen(this.dates, date);
    const of = this.ids.get(id);
    if (of === undefined) this.ids.set(id, place);
    else this.repeatedIds.add({ place, of, id });
    this.index.add(place, question);
    const copy = this.other?.find(question);
    if (copy) this.overlap.add({ place, ...copy });
  }

  summary(): Omit<Inspection, 'file' | 'kind' | 'overlap'> & { readonly overlap: Some<Copy> } {
    const copies = new Collection<Copy>();
    for (const copy of this.index.copies()) copies.add(copy);
    return {
      format: this.format?.name ?? null,
      mapping: this.format?.mapping ?? {},
      questions: this.questions,
      graders: this.graders.tally(),
      topics: this.topics.tally(),
      levels: this.levels.tally(),
      dates: this.dates,
      leftOut: this.leftOut.tally(),
      badRows: this.badRows,
      problems: this.problems.some(),
      repeatedIds: this.repeatedIds.some(),
      copies: copies.some(),
      overlap: this.overlap.some(),
    };
  }
}

function widen(dates: Inspection['dates'], date: string): readonly [string, string] {
  if (dates === null) return [date, date];
  const [first, last] = dates;
  return date < first ? [date, last] : [first, date > last ? date : last];
}

/** More names than a set has topics: of a column that holds anything else. */
const MOST_NAMES = 1000;

class Counter {
  private readonly counts = new Map<string, number>();

  add(name: string | undefined): void {
    if (name === undefined) return;
    const counted = this.counts.has(name) || this.counts.size < MOST_NAMES ? name : 'others';
    this.counts.set(counted, (this.counts.get(counted) ?? 0) + 1);
  }

  tally(): Tally {
    return Object.fromEntries([...this.counts].sort(([, one], [, other]) => other - one));
  }
}

const MOST_SHOWN = 20;

class Collection<Each> {
  private count = 0;
  private readonly first: Each[] = [];

  add(each: Each): void {
    this.count += 1;
    if (this.first.length < MOST_SHOWN) this.first.push(each);
  }

  some(): Some<Each> {
    return { count: this.count, first: this.first };
  }
}
