import { composed } from '../../grading/read-answer';

/** A question that repeats an earlier one. */
export interface Copy {
  readonly place: string;
  /** Place of the question that it repeats. */
  readonly of: string;
  /** Share of its runs of 13 words that the other one has as well; 1 if they differ at most in case and blanks. */
  readonly share: number;
}

/** Questions share so many words in a row only if one repeats the other, or both begin with a common preamble. */
const RUN = 13;
/** A run that this many questions have belongs to a preamble and is ignored. */
const PREAMBLE = 10;
/** Share of its runs that makes a question a copy. */
const LEAST_SHARE = 0.5;
/** Only this much of a question is compared. */
const MOST_CHARACTERS = 100_000;
/** Some 400 MB. Questions that come later are compared with those before alone. */
const MOST_RUNS = 4 * 2 ** 20;

interface Reading {
  readonly text: number;
  readonly runs: readonly number[];
}

/** Finds questions that repeat others: the same but for case and blanks, or in most of their runs of 13 words. */
export class QuestionIndex {
  private readonly places: string[] = [];
  private readonly texts = new Map<number, number>();
  /** The first row that had a run, by the run's hash. */
  private readonly firstRows = new Map<number, number>();
  /** How many later rows have it as well. */
  private readonly repeats = new Map<number, number>();
  /** Possible copies, until all preambles are known. */
  private readonly suspects: (Reading & { readonly row: number })[] = [];

  add(place: string, question: string): void {
    const row = this.places.push(place) - 1;
    const reading = read(question);
    if (this.nearest(reading, row) !== null) this.suspects.push({ row, ...reading });
    if (!this.texts.has(reading.text)) this.texts.set(reading.text, row);
    for (const run of reading.runs) {
      if (this.firstRows.has(run)) this.repeats.set(run, (this.repeats.get(run) ?? 0) + 1);
      else if (this.firstRows.size < MOST_RUNS) this.firstRows.set(run, row);
    }
  }

  /** The added questions that repeat an earlier one. */
  copies(): Copy[] {
    return this.suspects.flatMap(({ row, ...reading }) => {
      const copy = this.nearest(reading, row);
      return copy === null ? [] : [{ place: this.places[row] ?? '', ...copy }];
    });
  }

  /** The added question that this one repeats most of, if any. */
  find(question: string): Omit<Copy, 'place'> | null {
    return this.nearest(read(question), Infinity);
  }

  /** Among the rows before one. */
  private nearest({ text, runs }: Reading, before: number): Omit<Copy, 'place'> | null {
    const same = this.texts.get(text);
    if (same !== undefined && same < before) return { of: this.places[same] ?? '', share: 1 };
    const own = runs.filter((run) => (this.repeats.get(run) ?? 0) + 1 < PREAMBLE);
    const rows = own.flatMap((run) => this.firstRows.get(run) ?? []).filter((row) => row < before);
    const { row, count } = mostFrequent(rows);
    const isCopy = count > 0 && count >= LEAST_SHARE * own.length;
    return isCopy ? { of: this.places[row] ?? '', share: count / own.length } : null;
  }
}

/** The row that stands there most often; of several, the one that is the first to do so. */
function mostFrequent(rows: readonly number[]): { readonly row: number; readonly count: number } {
  const counts = new Map<number, number>();
  let most = { row: 0, count: 0 };
  for (const row of rows) {
    const count = (counts.get(row) ?? 0) + 1;
    counts.set(row, count);
    if (count > most.count) most = { row, count };
  }
  return most;
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
