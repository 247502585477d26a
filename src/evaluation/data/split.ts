import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../config/errors';
import { codeOf } from '../../reason-of';
import type { Question } from '../../grading/question';
import { type DataRow, openDataSet } from './data-set';
import { type Candidate, drawBalanced, type Part } from './draw-balanced';
import type { PlainGrader } from './formats/pairs';
import { QuestionIndex } from './question-index';

export interface SplitOptions {
  readonly parts: readonly Part[];
  readonly seed: number;
  /** Default for rows that name none. */
  readonly grader?: PlainGrader;
  /** Of questions that have a date: the first and the last day. */
  readonly since?: string;
  readonly until?: string;
  /** Folder for the parts, `<name>.jsonl` each. */
  readonly out: string;
}

/** What a split did. */
export interface Split {
  /** By part: its file, and how many questions it got of each source. */
  readonly parts: readonly { readonly file: string; readonly sources: Readonly<Record<string, number>> }[];
  /** Questions that repeat another one, or have its id. */
  readonly copies: number;
  readonly badRows: number;
}

/**
 * Draws balanced parts from files of questions, and writes them as rows of our own. What repeats an earlier question, in
 * whatever file, is in none of them.
 *
 * @throws ConfigError where there are too few questions, or a part's file is there already
 */
export async function splitDataSets(files: readonly string[], options: SplitOptions): Promise<Split> {
  const { candidates, places, copies, badRows } = await gather(files, options);
  const wanted = options.parts.reduce((sum, { count }) => sum + count, 0);
  if (wanted > candidates.length) {
    throw new ConfigError(
      `${wanted} questions are asked for, and there are ${candidates.length} without those that repeat another one: ask for fewer`,
    );
  }
  const drawn = drawBalanced(candidates, options.parts, options.seed);
  const partOf = new Map(places.map((place, index) => [place, drawn[index] ?? null]));
  const parts = await writeParts(files, partOf, options);
  return { parts, copies, badRows };
}

interface Gathered {
  readonly candidates: readonly Candidate[];
  /** Of each candidate, by index. */
  readonly places: readonly string[];
  readonly copies: number;
  readonly badRows: number;
}

async function gather(files: readonly string[], options: SplitOptions): Promise<Gathered> {
  const index = new QuestionIndex();
  const ids = new Set<string>();
  const repeated = new Set<string>();
  const found = new Map<string, Candidate>();
  let badRows = 0;
  for await (const { file, row } of rowsOf(files, options)) {
    if ('problems' in row) badRows += 1;
    if (!('question' in row) || !isWithin(row.question, options)) continue;
    const { id, question, source = file, topic = '' } = row.question;
    if (ids.has(id)) repeated.add(row.place);
    ids.add(id);
    index.add(row.place, question);
    found.set(row.place, { id, source, topic });
  }
  for (const { place } of index.copies()) repeated.add(place);
  for (const place of repeated) found.delete(place);
  return { candidates: [...found.values()], places: [...found.keys()], copies: repeated.size, badRows };
}

function isWithin({ date }: Question, { since = '', until = '9' }: SplitOptions): boolean {
  return date === undefined || (date >= since && date <= until);
}

async function* rowsOf(
  files: readonly string[],
  { grader }: Pick<SplitOptions, 'grader'>,
): AsyncGenerator<{ file: string; row: DataRow }> {
  for (const file of files)
    for await (const row of (await openDataSet(file, grader)).rows) yield { file, row };
}

interface OpenPart {
  readonly file: string;
  readonly handle: FileHandle;
  readonly sources: Map<string, number>;
}

async function writeParts(
  files: readonly string[],
  partOf: ReadonlyMap<string, string | null>,
  { parts, out, grader }: SplitOptions,
): Promise<Split['parts']> {
  const written = new Map<string, OpenPart>();
  try {
    await mkdir(out, { recursive: true });
    for (const { name } of parts) written.set(name, await openPart(join(out, `${name}.jsonl`)));
    for await (const { file, row } of rowsOf(files, { grader })) {
      const part = written.get(partOf.get(row.place) ?? '');
      if (part !== undefined && 'question' in row) await write(part, row.question, file);
    }
  } catch (error) {
    for (const { file } of written.values()) await rm(file, { force: true });
    throw error;
  } finally {
    for (const { handle } of written.values()) await handle.close();
  }
  return [...written.values()].map(({ file, sources }) => ({ file, sources: Object.fromEntries(sources) }));
}

async function openPart(file: string): Promise<OpenPart> {
  try {
    return { file, handle: await open(file, 'wx'), sources: new Map() };
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new ConfigError(`${file} is there already: remove it, or name another folder`, { cause: error });
  }
}

async function write({ handle, sources }: OpenPart, question: Question, file: string): Promise<void> {
  await handle.writeFile(`${JSON.stringify(question)}\n`);
  const { source = file } = question;
  sources.set(source, (sources.get(source) ?? 0) + 1);
}
