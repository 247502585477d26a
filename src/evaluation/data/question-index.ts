import { hash } from 'node:crypto';
import { type Question, wholeQuestion } from '../../grading/question';
import { composed } from '../../grading/readers';
import { groupBy } from '../../statistics/tally';

/** A question that repeats an earlier one. */
export interface Copy {
  readonly place: string;
  readonly of: string;
  /** Share of its runs of 13 words that the other one also has; 1 if they differ only in case and whitespace. */
  readonly share: number;
}

/** Questions share this many words in a row only if one repeats the other, or both have a common preamble. */
const RUN = 13;
/** A run that this many questions share belongs to a preamble and is ignored. */
const PREAMBLE = 10;
const LEAST_SHARE = 0.5;
/** Maximum characters of a question from which runs are taken. */
const MOST_CHARACTERS = 100_000;
/** About 400 MB. Beyond it, new runs are not indexed, so that later questions are compared only with indexed ones. */
const MOST_RUNS = 4 * 2 ** 20;

interface Reading {
  readonly text: number;
  readonly runs: readonly number[];
}

/** Finds questions that repeat others: by id, except for case and whitespace, or in half of their runs of 13 words. */
export class QuestionIndex {
  readonly repeatedIds: { readonly place: string; readonly of: string; readonly id: string }[] = [];
  private readonly ids = new Map<string, string>();
  private readonly places: string[] = [];
  private readonly texts = new Map<number, number>();
  private readonly rowsWithRun = new Map<number, number[]>();
  /** Possible copies, checked again once all preambles are known. */
  private readonly suspects: (Reading & { readonly row: number })[] = [];

  get size(): number {
    return this.places.length;
  }

  add(place: string, { id, ...asked }: Pick<Question, 'id' | 'question' | 'conversation'>): void {
    const of = this.ids.get(id);
    if (of === undefined) this.ids.set(id, place);
    else this.repeatedIds.push({ place, of, id });
    const row = this.places.push(place) - 1;
    const reading = read(wholeQuestion(asked));
    if (this.nearest(reading, row) !== null) this.suspects.push({ row, ...reading });
    if (!this.texts.has(reading.text)) this.texts.set(reading.text, row);
    for (const run of reading.runs) {
      const rows = this.rowsWithRun.get(run);
      if (rows !== undefined) rows.push(row);
      else if (this.rowsWithRun.size < MOST_RUNS) this.rowsWithRun.set(run, [row]);
    }
  }

  copies(): Copy[] {
    return this.suspects.flatMap(({ row, ...reading }) => {
      const copy = this.nearest(reading, row);
      return copy === null ? [] : [{ place: this.places[row] ?? '', ...copy }];
    });
  }

  /** Returns the added question that this one repeats most of, if any. */
  find(question: string): Omit<Copy, 'place'> | null {
    return this.nearest(read(question), Infinity);
  }

  private nearest({ text, runs }: Reading, before: number): Omit<Copy, 'place'> | null {
    const same = this.texts.get(text) ?? before;
    if (same < before) return { of: this.places[same] ?? '', share: 1 };
    const own = runs.map((run) => this.rowsWithRun.get(run) ?? []).filter(({ length }) => length < PREAMBLE);
    const earlier = own.flat().filter((row) => row < before);
    const groups = [...groupBy(earlier, (row) => row).values()];
    const [shared = []] = groups.toSorted((one, other) => other.length - one.length);
    const [row] = shared;
    if (row === undefined || shared.length < LEAST_SHARE * own.length) return null;
    return { of: this.places[row] ?? '', share: shared.length / own.length };
  }
}

/** Returns a question's text for comparison: questions are the same if it is equal. */
export function normalizeQuestion(question: string): string {
  return composed(question).trim().replace(/\s+/g, ' ').toLowerCase();
}

/** Words, numbers and signs, without punctuation. */
const WORD = /[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}.,;:!?"'`]/gu;

function read(question: string): Reading {
  const plain = normalizeQuestion(question);
  const words = plain.slice(0, MOST_CHARACTERS).match(WORD) ?? [];
  const runs = new Set<number>();
  for (let from = 0; from === 0 || from + RUN <= words.length; from += 1) {
    runs.add(hashOf(words.slice(from, from + RUN).join(' ')));
  }
  return { text: hashOf(plain), runs: [...runs] };
}

/** Returns a hash of 48 bits, which a number holds exactly. */
function hashOf(text: string): number {
  return hash('sha256', text, 'buffer').readUIntBE(0, 6);
}
