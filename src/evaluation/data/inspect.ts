import type { Question } from '../../grading/question';
import { tally } from '../../statistics/tally';
import { openDataSet } from './data-set';
import type { DataFormat, PlainGrader, Prompts } from './format';
import { type Copy, QuestionIndex } from './question-index';

/** Count of each name, most frequent first. */
export type NameCounts = Readonly<Record<string, number>>;

export interface Some<Each> {
  readonly count: number;
  readonly first: readonly Each[];
}

/** Findings of `data inspect`. A place is `file:line`, or `file, row number`. */
export interface Inspection extends Pick<DataFormat, 'mapping'> {
  readonly file: string;
  /** For example `JSON lines, packed by gzip`. */
  readonly kind: string;
  /** Null if no row could be read. */
  readonly format: string | null;
  /** Instruction or field that the paper's form uses; null if that form is not requested or not known. */
  readonly prompt: string | null;
  readonly questions: number;
  readonly graders: NameCounts;
  readonly topics: NameCounts;
  readonly levels: NameCounts;
  /** First and last date; null if no question has one. */
  readonly dates: readonly [string, string] | null;
  /** Rows that are left out on purpose, by reason. */
  readonly leftOut: NameCounts;
  readonly badRows: number;
  readonly problems: Some<string>;
  readonly repeatedIds: Some<QuestionIndex['repeatedIds'][number]>;
  readonly copies: Some<Copy>;
  /** Questions that repeat one of the file `against`. */
  readonly overlap: (Some<Copy> & { readonly file: string; readonly questions: number }) | null;
}

/** Inspects a file of questions. @param against another file, none of whose questions should be repeated */
export async function inspectDataSet(
  file: string,
  { against, grader, prompts }: { against?: string; grader?: PlainGrader; prompts?: Prompts } = {},
): Promise<Inspection> {
  const other = against === undefined ? null : { file: against, index: await readIndex(against) };
  const { kind, rows } = await openDataSet(file, grader);
  // Keeps only these fields, since texts and tests could fill the memory.
  const facts: Record<'grader' | 'topic' | 'level' | 'date', string | undefined>[] = [];
  const leftOut: string[] = [];
  const problems: string[] = [];
  const overlap: Copy[] = [];
  const index = new QuestionIndex();
  let format: DataFormat | null = null;
  let badRows = 0;
  const note = (place: string, question: Question): void => {
    const { grader: by, topic, level, date } = question;
    facts.push({ grader: by, topic, level, date });
    index.add(place, question);
    const copy = other?.index.find(question.question);
    if (copy) overlap.push({ place, ...copy });
  };
  for await (const { place, format: of, ...row } of rows) {
    format ??= of;
    if ('question' in row) note(place, row.question);
    else if ('leftOut' in row) leftOut.push(row.leftOut);
    else {
      badRows += 1;
      problems.push(...row.problems.map((problem) => `${place}: ${problem}`));
    }
  }
  const { name, mapping } = format ?? UNREAD;
  return {
    file,
    kind,
    format: name,
    mapping,
    prompt: promptOf(format, prompts),
    questions: facts.length,
    graders: tallied(facts.map(({ grader: by }) => by)),
    topics: tallied(facts.map(({ topic }) => topic)),
    levels: tallied(facts.map(({ level }) => level)),
    dates: datesOf(facts.flatMap(({ date = [] }) => date).sort()),
    leftOut: tallied(leftOut),
    badRows,
    problems: some(problems),
    repeatedIds: some(index.repeatedIds),
    copies: some(index.copies()),
    overlap: other && { file: other.file, questions: other.index.size, ...some(overlap) },
  };
}

const UNREAD = { name: null, mapping: {} };

function promptOf(format: DataFormat | null, prompts: Prompts | undefined): string | null {
  return prompts === 'paper' ? (format?.paper?.prompt ?? null) : null;
}

function datesOf([first, ...later]: readonly string[]): Inspection['dates'] {
  return first === undefined ? null : [first, later.at(-1) ?? first];
}

async function readIndex(file: string): Promise<QuestionIndex> {
  const index = new QuestionIndex();
  for await (const row of (await openDataSet(file)).rows) {
    if ('question' in row) index.add(row.place, row.question);
  }
  return index;
}

function tallied(names: readonly (string | undefined)[]): NameCounts {
  const counts = Object.entries(tally(names.flatMap((name) => name ?? [])));
  return Object.fromEntries(counts.sort(([, one], [, other]) => other - one));
}

const MAX_SHOWN = 20;

function some<Each>(all: readonly Each[]): Some<Each> {
  return { count: all.length, first: all.slice(0, MAX_SHOWN) };
}
