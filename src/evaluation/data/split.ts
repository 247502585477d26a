import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../config/errors';
import type { Question } from '../../grading/question';
import { type DataRow, openDataSet } from './data-set';
import { type Candidate, drawBalanced, type Part } from './draw-balanced';
import type { PlainGrader } from './format';
import { QuestionIndex } from './question-index';

export interface SplitOptions {
  readonly parts: readonly Part[];
  readonly seed: number;
  /** Default for rows that name none. */
  readonly grader?: PlainGrader;
  /** The first and the last day of questions that have a date. */
  readonly since?: string;
  readonly until?: string;
  /** Folder for the parts, `<name>.jsonl` each. */
  readonly out: string;
}

export interface Split {
  /** By part: its file, and how many questions it got of each source. */
  readonly parts: readonly { readonly file: string; readonly sources: Readonly<Record<string, number>> }[];
  /** Questions that repeat another one, or have its id. */
  readonly copies: number;
  readonly badRows: number;
}

/**
 * Draws balanced parts from files of questions, and writes them as rows of our own. A question that repeats an earlier one,
 * in whatever file, is in none of them. The files are read twice, so that only what was drawn is kept in memory.
 *
 * @throws ConfigError where there are too few questions, or a part's file is there already
 */
export async function splitDataSets(files: readonly string[], options: SplitOptions): Promise<Split> {
  const { parts, out, seed, grader } = options;
  const drafts = parts.map(({ name }) => ({
    name,
    file: join(out, `${name}.jsonl`),
    lines: '',
    sources: {},
  }));
  const there = drafts.find(({ file }) => existsSync(file));
  if (there !== undefined) {
    throw new ConfigError(`${there.file} is there already: remove it, or name another folder`);
  }
  const { candidates, copies, badRows } = await gather(files, options);
  const wanted = parts.reduce((sum, { count }) => sum + count, 0);
  if (wanted > candidates.length) {
    throw new ConfigError(
      `${wanted} questions are asked for, and there are ${candidates.length} without those that repeat another one: ask for fewer`,
    );
  }
  const drawn = drawBalanced(candidates, parts, seed);
  const partOf = new Map(candidates.map(({ place }, index) => [place, drawn[index]]));
  for await (const { file, row } of rowsOf(files, grader)) {
    const draft = drafts.find(({ name }) => name === partOf.get(row.place));
    if (draft !== undefined && 'question' in row) add(draft, row.question, file);
  }
  await mkdir(out, { recursive: true });
  for (const { file, lines } of drafts) await writeFile(file, lines);
  return { parts: drafts.map(({ file, sources }) => ({ file, sources })), copies, badRows };
}

function add(
  draft: { lines: string; readonly sources: Record<string, number> },
  question: Question,
  file: string,
): void {
  const { source = file } = question;
  draft.lines += `${JSON.stringify(question)}\n`;
  draft.sources[source] = (draft.sources[source] ?? 0) + 1;
}

interface Gathered extends Omit<Split, 'parts'> {
  readonly candidates: readonly (Candidate & { readonly place: string })[];
}

async function gather(files: readonly string[], options: SplitOptions): Promise<Gathered> {
  const index = new QuestionIndex();
  const ids = new Set<string>();
  const repeated = new Set<string>();
  const found: Gathered['candidates'][number][] = [];
  let badRows = 0;
  for await (const { file, row } of rowsOf(files, options.grader)) {
    const { place } = row;
    if ('problems' in row) badRows += 1;
    if (!('question' in row) || !isWithin(row.question, options)) continue;
    const { id, question, source = file, topic = '' } = row.question;
    if (ids.has(id)) repeated.add(place);
    ids.add(id);
    index.add(place, question);
    found.push({ id, source, topic, place });
  }
  for (const { place } of index.copies()) repeated.add(place);
  return { candidates: found.filter(({ place }) => !repeated.has(place)), copies: repeated.size, badRows };
}

function isWithin({ date }: Question, { since = '', until = '9' }: SplitOptions): boolean {
  return date === undefined || (date >= since && date <= until);
}

async function* rowsOf(
  files: readonly string[],
  grader: PlainGrader | undefined,
): AsyncGenerator<{ file: string; row: DataRow }> {
  for (const file of files)
    for await (const row of (await openDataSet(file, grader)).rows) yield { file, row };
}
