import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../config/errors';
import type { Question } from '../../grading/question';
import { codeOf } from '../../reason-of';
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
 * in whatever file, is in none of them. The files are read twice, so that only one row is kept at a time.
 *
 * @throws ConfigError where there are too few questions, or a part's file is there already
 */
export async function splitDataSets(files: readonly string[], options: SplitOptions): Promise<Split> {
  const { candidates, copies, badRows } = await gather(files, options);
  const wanted = options.parts.reduce((sum, { count }) => sum + count, 0);
  if (wanted > candidates.length) {
    throw new ConfigError(
      `${wanted} questions are asked for, and there are ${candidates.length} without those that repeat another one: ask for fewer`,
    );
  }
  const drawn = drawBalanced(candidates, options.parts, options.seed);
  const partOf = new Map(candidates.map(({ place }, index) => [place, drawn[index] ?? '']));
  return { parts: await writeParts(files, partOf, options), copies, badRows };
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

interface OpenPart {
  readonly file: string;
  readonly handle: FileHandle;
  readonly sources: Record<string, number>;
}

async function writeParts(
  files: readonly string[],
  partOf: ReadonlyMap<string, string>,
  { parts, out, grader }: SplitOptions,
): Promise<Split['parts']> {
  const written = new Map<string, OpenPart>();
  try {
    await mkdir(out, { recursive: true });
    for (const { name } of parts) {
      const file = join(out, `${name}.jsonl`);
      written.set(name, { file, handle: await openNew(file), sources: {} });
    }
    for await (const { file, row } of rowsOf(files, grader)) {
      const part = written.get(partOf.get(row.place) ?? '');
      if (part !== undefined && 'question' in row) await write(part, row.question, file);
    }
  } catch (error) {
    for (const { file } of written.values()) await rm(file, { force: true });
    throw error;
  } finally {
    for (const { handle } of written.values()) await handle.close();
  }
  return [...written.values()].map(({ file, sources }) => ({ file, sources }));
}

async function openNew(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx');
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new ConfigError(`${file} is there already: remove it, or name another folder`, { cause: error });
  }
}

async function write({ handle, sources }: OpenPart, question: Question, file: string): Promise<void> {
  await handle.writeFile(`${JSON.stringify(question)}\n`);
  const { source = file } = question;
  sources[source] = (sources[source] ?? 0) + 1;
}
