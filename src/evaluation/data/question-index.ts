import { composed } from '../../grading/read-answer';
import { RunTable } from './run-table';

/** A question that repeats an earlier one. */
export interface Copy {
  readonly place: string;
  /** Where the one is that it repeats. */
  readonly of: string;
  /** Of its runs of 13 words, how many the other one has, too; 1 where they are the same but for case and blanks. */
  readonly share: number;
}

/** Words in a row that two questions have by chance only where both have the same preamble. */
const RUN = 13;
/** So many questions with a run make it a preamble, which counts for nothing. */
const PREAMBLE = 10;
/** So many of a question's runs make it a copy. */
const LEAST_SHARE = 0.5;
/** Of one question; what comes later is not compared. */
const MOST_CHARACTERS = 100_000;

interface Reading {
  readonly text: number;
  readonly runs: readonly number[];
}

/** Finds questions that repeat others: the same but for case and blanks, or in most of their runs of 13 words. */
export class QuestionIndex {
  private readonly places: string[] = [];
  private readonly texts = new Map<number, number>();
  private readonly runs: RunTable;
  /** What may be a copy, as long as it is not known what is a preamble. */
  private readonly suspects: (Reading & { readonly row: number })[] = [];

  constructor(runs = new RunTable()) {
    this.runs = runs;
  }

  add(place: string, question: string): void {
    const row = this.places.push(place) - 1;
    const reading = read(question);
    if (this.nearest(reading, row) !== null) this.suspects.push({ row, ...reading });
    if (!this.texts.has(reading.text)) this.texts.set(reading.text, row);
    for (const run of reading.runs) this.runs.add(run, row);
  }

  /** Those that were added and repeat one that was added before. */
  copies(): Copy[] {
    return this.suspects.flatMap(({ row, ...reading }) => {
      const copy = this.nearest(reading, row);
      return copy === null ? [] : [{ place: this.placeOf(row), ...copy }];
    });
  }

  /** The question added that this one repeats most of, if any. */
  find(question: string): Omit<Copy, 'place'> | null {
    return this.nearest(read(question), Infinity);
  }

  /** Among the rows before one. */
  private nearest({ text, runs }: Reading, before: number): Omit<Copy, 'place'> | null {
    const same = this.texts.get(text);
    if (same !== undefined && same < before) return { of: this.placeOf(same), share: 1 };
    const firstRows = this.comparable(runs);
    const shared = new Map<number, number>();
    let [nearest, most] = [0, 0];
    for (const row of firstRows) {
      if (row >= before) continue;
      const count = (shared.get(row) ?? 0) + 1;
      shared.set(row, count);
      if (count > most) [nearest, most] = [row, count];
    }
    if (most === 0 || most < LEAST_SHARE * firstRows.length) return null;
    return { of: this.placeOf(nearest), share: most / firstRows.length };
  }

  /** Of each run that is kept and no preamble, the row that had it first; Infinity for none. */
  private comparable(runs: readonly number[]): number[] {
    return runs
      .filter((run) => this.runs.keeps(run))
      .map((run) => this.runs.find(run))
      .filter((known) => known === null || known.rows < PREAMBLE)
      .map((known) => known?.row ?? Infinity);
  }

  private placeOf(row: number): string {
    return this.places[row] ?? '';
  }
}

/** Two questions are the same where this is. */
export function normalizeQuestion(question: string): string {
  return composed(question).trim().replace(/\s+/g, ' ').toLowerCase();
}

/** Words, numbers and signs; marks between sentences count for nothing. */
const WORD = /[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}.,;:!?"'`]/gu;

function read(question: string): Reading {
  const plain = normalizeQuestion(question);
  const words = Array.from(plain.slice(0, MOST_CHARACTERS).matchAll(WORD), ([word]) => hash(word));
  const runs = new Set<number>();
  for (let from = 0; from === 0 || from + RUN <= words.length; from += 1) {
    runs.add(hash(words.slice(from, from + RUN).join(' ')));
  }
  return { text: hash(plain), runs: [...runs] };
}

/** 52 bits, by two of FNV's walks. */
function hash(text: string): number {
  let [one, other] = [0x811c9dc5, 0x9747b28c];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x5bd1e995);
    other ^= other >>> 15;
  }
  return (one >>> 6) * 2 ** 26 + (other >>> 6);
}
