import { type Dice, diceFor, type Topic, type World } from './world';

/** One line of a set of questions, in the form that training reads. */
export interface QuestionRow {
  readonly id: string;
  readonly question: string;
  readonly answer: string;
  readonly grader: 'number';
  readonly topic: string;
}

/** `train` for learning, `heldOut` for testing, with other pairs of noun and sentence, and other numbers. */
export type Split = 'train' | 'heldOut';

/** Two-digit numbers from 11 to 60. */
const NUMBERS = Array.from({ length: 50 }, (_, index) => 11 + index);

/**
 * Returns distinct questions of one split, equally many per topic; a seed always gives the same ones.
 *
 * @throws RangeError if `count` exceeds half of what the split has
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

/** Writes rows as the lines of a JSONL file. */
export function toJsonLines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** Parts that the questions of one topic are made of. */
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

/** Holds out a quarter of the wordings and of the pairs of numbers. */
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

/** Content of a question, however worded: the sum of two numbers. */
export interface WorldQuestion {
  readonly topic: Topic;
  readonly a: number;
  readonly b: number;
}

/** Wordings of a question. Twelve, so that a policy reads the noun: with only four, it memorised the sentences. */
const TEMPLATES: readonly string[] = [
  'How much is {a} and {b} for this {noun}?',
  'This {noun} holds {a} and {b}. What is the total?',
  'Please add {a} to {b} for the {noun}.',
  'About the {noun}: what do {a} and {b} come to?',
  'Take {a}, then {b} more. How many has the {noun}?',
  'A {noun} counts {a} here and {b} there. How many in all?',
  'What sum do {a} and {b} make in a {noun}?',
  'Given {a} and {b}, tell me the sum of the {noun}.',
  'My {noun} has {a} parts, yours has {b}. How many together?',
  'If one {noun} is worth {a} and another {b}, what are both worth?',
  'We found {a} in the first {noun} and {b} in the second. Sum?',
  'Start with {a}. The {noun} adds {b}. Where do we end?',
];

/** Words a question by one of the templates. */
function wordQuestion(template: string, noun: string, a: number, b: number): string {
  return template.replace('{noun}', noun).replace('{a}', String(a)).replace('{b}', String(b));
}

/**
 * Reads a question back: its topic by the noun, as a whole word ("please" contains "lease"), and its two numbers.
 *
 * @throws RangeError unless it is a question of this world
 */
export function readQuestion({ name, topics }: World, text: string): WorldQuestion {
  const words = new Set(text.toLowerCase().match(/\p{Letter}+/gu));
  const topic = topics.find(({ nouns }) => nouns.some((noun) => words.has(noun)));
  const [a, b] = numbersIn(text);
  if (topic === undefined || a === undefined || b === undefined) {
    throw new RangeError(
      `"${text}" is no question of the ${name} world: it needs two numbers and a noun of a topic.`,
    );
  }
  return { topic, a, b };
}

/** Returns the whole numbers in a text, in order. */
export function numbersIn(text: string): number[] {
  return (text.match(/-?\d+/g) ?? []).map(Number);
}
