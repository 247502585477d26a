import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../config/errors';
import type { Question } from '../../grading/question';
import { groupBy, tally } from '../../statistics/tally';
import { type DataRow, openDataSet } from './data-set';
import { inHashOrder, type PlainGrader, type Prompts } from './format';
import { QuestionIndex } from './question-index';

export interface SplitOptions {
  /** Name of each part, and how many questions it gets. */
  readonly parts: readonly { readonly name: string; readonly count: number }[];
  readonly seed: number;
  readonly grader?: PlainGrader;
  readonly prompts?: Prompts;
  /** First and last day of questions that have a date; others are always taken. */
  readonly since?: string;
  readonly until?: string;
  readonly out: string;
}

export interface Split {
  /** File of each part, and how many questions of each source it got. */
  readonly parts: readonly { readonly file: string; readonly sources: Readonly<Record<string, number>> }[];
  /** Questions that repeat another one, or have its id. */
  readonly copies: number;
  readonly badRows: number;
}

/**
 * Draws balanced parts from files of questions, and writes them in our own format. Questions that repeat an earlier
 * one, in any file, are left out. The files are read twice, so that only drawn questions are kept in memory.
 */
export async function splitDataSets(files: readonly string[], options: SplitOptions): Promise<Split> {
  const { parts, out, seed, grader, prompts } = options;
  const drafts = parts.map(({ name }) => {
    return { name, file: join(out, `${name}.jsonl`), lines: '', sources: [] as string[] };
  });
  const there = drafts.find(({ file }) => existsSync(file));
  if (there !== undefined)
    throw new ConfigError(`${there.file} is there already: remove it, or name another folder`);
  const { candidates, copies, badRows } = await gather(files, options);
  const wanted = parts.reduce((sum, { count }) => sum + count, 0);
  if (wanted > candidates.length) {
    throw new ConfigError(
      `${wanted} questions are asked for, and there are ${candidates.length} without those that repeat another one: ask for fewer`,
    );
  }
  const partOf = drawBalanced(candidates, parts, seed);
  for await (const { file, row } of rowsOf(files, grader, prompts)) {
    const draft = drafts.find(({ name }) => name === partOf.get(row.place));
    if (draft === undefined || !('question' in row)) continue;
    draft.lines += `${JSON.stringify(row.question)}\n`;
    draft.sources.push(row.question.source ?? file);
  }
  await mkdir(out, { recursive: true });
  for (const { file, lines } of drafts) await writeFile(file, lines);
  return { copies, badRows, parts: drafts.map(({ file, sources }) => ({ file, sources: tally(sources) })) };
}

type Candidate = Pick<DataRow, 'place'> & Required<Pick<Question, 'id' | 'source' | 'topic'>>;

async function gather(files: readonly string[], options: SplitOptions) {
  const index = new QuestionIndex();
  const found: Candidate[] = [];
  let badRows = 0;
  for await (const { file, row } of rowsOf(files, options.grader)) {
    if ('problems' in row) badRows += 1;
    if (!('question' in row) || !isWithin(row.question, options)) continue;
    const { id, source = file, topic = '' } = row.question;
    index.add(row.place, row.question);
    found.push({ place: row.place, id, source, topic });
  }
  const repeated = new Set([...index.repeatedIds, ...index.copies()].map(({ place }) => place));
  return { candidates: found.filter(({ place }) => !repeated.has(place)), copies: repeated.size, badRows };
}

function isWithin({ date }: Question, { since = '', until = '9' }: SplitOptions): boolean {
  return date === undefined || (date >= since && date <= until);
}

async function* rowsOf(files: readonly string[], grader: PlainGrader | undefined, prompts?: Prompts) {
  for (const file of files)
    for await (const row of (await openDataSet(file, grader, prompts)).rows) yield { file, row };
}

/**
 * Assigns the drawn questions to parts, by place. All parts together get equally many questions of each source, and
 * within a source of each topic, as long as there are any left; each part gets its share of every topic. Only seed
 * and ids decide, not the order of the questions.
 */
export function drawBalanced(
  candidates: readonly Candidate[],
  parts: SplitOptions['parts'],
  seed: number,
): ReadonlyMap<string, string> {
  const shuffled = inHashOrder(candidates, ({ id }) => `${seed}\n${id}`);
  const sourceOf = ({ source }: Candidate): string => source;
  const topicOf = ({ source, topic }: Candidate): string => `${source}\n${topic}`;
  const inTurn = takeInTurn(takeInTurn(shuffled, topicOf), sourceOf);
  const slots = parts.flatMap(({ name, count }) =>
    Array.from({ length: count }, (_, index) => ({ name, at: (index + 1) / count })),
  );
  const names = slots.sort((one, other) => one.at - other.at).map(({ name }) => name);
  // Spreads neighbours over the parts.
  const bySource = grouped(inTurn.slice(0, names.length), sourceOf);
  const drawn = bySource.flatMap((same) => grouped(same, topicOf).flat());
  return new Map(drawn.map(({ place }, index) => [place, names[index] ?? '']));
}

function grouped<Item>(items: readonly Item[], groupOf: (item: Item) => string): (readonly Item[])[] {
  return [...groupBy(items, groupOf).values()];
}

/** Orders items so that the first of each group come first, then the second of each, and so on. */
function takeInTurn<Item>(items: readonly Item[], groupOf: (item: Item) => string): Item[] {
  const turns = grouped(items, groupOf).flatMap((group) => group.map((item, turn) => ({ item, turn })));
  return turns.sort((one, other) => one.turn - other.turn).map(({ item }) => item);
}
