import { diceFor, type Dice } from './dice';
import { TEMPLATES, wordQuestion } from './question-text';
import type { Topic, World } from './world';

/** One line of a set of questions, in the form that training reads. */
export interface QuestionRow {
  readonly id: string;
  readonly question: string;
  readonly answer: string;
  readonly grader: 'number';
  readonly topic: string;
}

/** `train` to learn from, `heldOut` to be tried on: other pairs of noun and sentence, and other numbers. */
export type Split = 'train' | 'heldOut';

/** Numbers have two digits, as the wrong ones do. */
const NUMBERS = Array.from({ length: 50 }, (_, index) => 11 + index);

/**
 * Questions of one split, all different, as many of one topic as of another; the same ones for the same seed.
 *
 * @throws RangeError where the split has not many more
 */
export function questionSet(world: World, split: Split, count: number, seed: number): QuestionRow[] {
  const dice = diceFor('questions', world.name, split, seed);
  const sources = world.topics.map((topic) => sourceOf(topic, split));
  const most = Math.min(...sources.map(({ wordings, numbers }) => wordings.length * numbers.length)) / 2;
  if (count > most * sources.length) {
    throw new RangeError(
      `${count} different ${split} questions are too many; ask for at most ${most * sources.length}.`,
    );
  }
  const rows = new Map<string, QuestionRow>();
  while (rows.size < count) {
    const row = drawQuestion(sources[rows.size % sources.length], dice, `${split}-${padded(rows.size)}`);
    if (!rows.has(row.question)) rows.set(row.question, row);
  }
  return [...rows.values()];
}

/** As the lines of a JSONL file. */
export function toJsonLines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** What the questions of one topic are made of. */
interface Source {
  readonly topic: string;
  readonly wordings: readonly ((a: number, b: number) => string)[];
  readonly numbers: readonly (readonly [number, number])[];
}

function sourceOf({ name, nouns }: Topic, split: Split): Source {
  const belongs = (number: number): boolean => isHeldOut(number) === (split === 'heldOut');
  return {
    topic: name,
    wordings: nouns.flatMap((noun, n) =>
      TEMPLATES.filter((_, t) => belongs(n + t)).map(
        (template) => (a: number, b: number) => wordQuestion(template, noun, a, b),
      ),
    ),
    numbers: NUMBERS.flatMap((a) =>
      NUMBERS.filter((b) => belongs(a + 2 * b)).map((b): [number, number] => [a, b]),
    ),
  };
}

/** A quarter of the wordings and of the pairs of numbers is kept back. */
function isHeldOut(number: number): boolean {
  return number % 4 === 0;
}

function drawQuestion(source: Source | undefined, dice: Dice, id: string): QuestionRow {
  if (source === undefined) throw new RangeError('A world without topics has no questions; give it one.');
  const [a, b] = dice.pick(source.numbers);
  const question = dice.pick(source.wordings)(a, b);
  return { id, question, answer: String(a + b), grader: 'number', topic: source.topic };
}

function padded(number: number): string {
  return String(number).padStart(5, '0');
}
