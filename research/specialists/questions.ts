import { drawQuestions, type sortByTopic } from '../../src/training/draw';
import type { QuestionRow as AnyQuestionRow } from '../world/questions';
import { type Dice, diceFor } from '../world/world';
import { applySkill, type Given, type Phrase, phrasesOf, type Skill, SKILLS } from './skills';

// Questions that need one skill, or two or three in sequence, each applied to the result of the previous one.

/** Skills in the order of their application. */
export type Composition = readonly [Skill, ...Skill[]];

export const SINGLES: readonly Composition[] = SKILLS.map((skill): Composition => [skill]);

export const TRAINED_PAIRS: readonly Composition[] = [
  ['add', 'reverse'],
  ['add', 'trim'],
  ['add', 'mark'],
  ['add', 'count'],
  ['max', 'sort'],
  ['max', 'shift'],
  ['max', 'trim'],
  ['max', 'mark'],
  ['max', 'count'],
  ['reverse', 'trim'],
  ['reverse', 'mark'],
  ['sort', 'reverse'],
  ['sort', 'shift'],
  ['sort', 'trim'],
  ['shift', 'sort'],
  ['shift', 'mark'],
  ['trim', 'reverse'],
  ['trim', 'sort'],
  ['trim', 'count'],
  ['mark', 'reverse'],
  ['mark', 'shift'],
  ['mark', 'count'],
];

/** Pairs that no trained question combines, although each of their skills was trained at its place. */
export const HELD_OUT_PAIRS: readonly Composition[] = [
  ['add', 'shift'],
  ['max', 'reverse'],
  ['shift', 'count'],
  ['sort', 'mark'],
  ['mark', 'sort'],
  ['trim', 'mark'],
];

export const TRAINED_TRIPLES: readonly Composition[] = [
  ['add', 'mark', 'reverse'],
  ['add', 'reverse', 'mark'],
  ['max', 'sort', 'shift'],
  ['max', 'shift', 'sort'],
  ['max', 'trim', 'sort'],
  ['shift', 'sort', 'reverse'],
  ['trim', 'sort', 'reverse'],
  ['sort', 'reverse', 'trim'],
];

export const HELD_OUT_TRIPLES: readonly Composition[] = [
  ['add', 'mark', 'count'],
  ['max', 'sort', 'trim'],
  ['reverse', 'trim', 'sort'],
  ['sort', 'trim', 'reverse'],
];

/** All that may be learned from. */
export const TRAINED: readonly Composition[] = [...SINGLES, ...TRAINED_PAIRS, ...TRAINED_TRIPLES];

export const SET_NAMES = [
  'singles',
  'trained pairs',
  'held-out pairs',
  'trained triples',
  'held-out triples',
] as const;
export type SetName = (typeof SET_NAMES)[number];

const SETS: Readonly<Record<SetName, readonly Composition[]>> = {
  singles: SINGLES,
  'trained pairs': TRAINED_PAIRS,
  'held-out pairs': HELD_OUT_PAIRS,
  'trained triples': TRAINED_TRIPLES,
  'held-out triples': HELD_OUT_TRIPLES,
};

export const COMPOSITIONS: readonly Composition[] = SET_NAMES.flatMap((set) => SETS[set]);

/** One line of a set of questions, in the form that training and evaluation read. */
export interface QuestionRow extends Omit<AnyQuestionRow, 'grader'> {
  readonly grader: 'exact';
}

/** A question with what it was made from. */
export interface Drawn {
  readonly composition: Composition;
  readonly phrases: readonly Phrase[];
  readonly given: Given;
  readonly question: string;
  readonly answer: string;
}

/** `train` for learning, `heldOut` for testing, with other numbers and other words. */
export type Split = 'train' | 'heldOut';

/**
 * Returns `count` distinct questions; compositions take turns.
 *
 * @param name seeds the draw, so that sets of one split differ
 */
export function questionSet(
  compositions: readonly Composition[],
  split: Split,
  count: number,
  ...name: readonly (string | number)[]
): QuestionRow[] {
  const dice = diceFor('specialists', split, ...name);
  const rows = new Map<string, QuestionRow>();
  while (rows.size < count) {
    const composition = compositions[rows.size % compositions.length];
    if (composition === undefined) throw new RangeError('Questions need a composition; give at least one.');
    const { question, answer } = drawQuestion(composition, split, dice);
    const id = `${split}-${String(rows.size).padStart(5, '0')}`;
    rows.set(question, { id, question, answer, grader: 'exact', topic: topicOf(composition) });
  }
  return [...rows.values()];
}

/** Returns all sets, with `each` questions per composition. */
export function compositionSets(
  split: Split,
  each: number,
  ...name: readonly string[]
): [SetName, QuestionRow[]][] {
  return SET_NAMES.map((set) => [set, questionSet(SETS[set], split, each * SETS[set].length, ...name)]);
}

/** Compositions with their share of the questions. */
export type Share = readonly [share: number, compositions: readonly Composition[]];

/** Enough for most questions to come only once. */
const TO_LEARN_FROM = 20_000;

/** Returns the questions to learn from. */
export function trainingSet(sets: readonly Share[], ...name: readonly (string | number)[]): QuestionRow[] {
  const rows = sets.flatMap(([share, compositions], place) =>
    questionSet(compositions, 'train', Math.round(share * TO_LEARN_FROM), ...name, place),
  );
  return rows.map((row, index) => ({ ...row, id: `train-${String(index).padStart(5, '0')}` }));
}

/** Questions sorted by topic, as in a night. */
export type Source = ReturnType<typeof sortByTopic<QuestionRow>>;

/** Draws the questions of a cycle, as a night does. */
export function questionsOf(
  { questions: rows, topics }: Source,
  draw: { readonly seed: number; readonly cycle: number; readonly questions: number },
): QuestionRow[] {
  return drawQuestions({ ...draw, topics }, draw.questions).flatMap((index) => rows[index] ?? []);
}

function topicOf(composition: Composition): string {
  return composition.join('-');
}

/** Redraws while other, fewer or reordered skills give the same answer: a wrong plan must not be right by luck. */
export function drawQuestion(composition: Composition, split: Split, dice: Dice): Drawn {
  const others = decoysOf(composition);
  for (;;) {
    const given = drawGiven(composition[0], dice);
    const answer = applyAll(composition, given);
    if (answer === null || splitOf(given) !== split || answer === given) continue;
    if (others.some((skills) => applyAll(skills, given) === answer)) continue;
    const phrases = composition.map((skill) => dice.pick(phrasesOf(skill)));
    return { composition, phrases, given, question: wordQuestion(phrases, given, dice), answer };
  }
}

/** Returns subsets and reorderings of the composition, and all others of at most its length. */
function decoysOf(composition: Composition): readonly (readonly Skill[])[] {
  const others = COMPOSITIONS.filter(({ length }) => length <= composition.length);
  return [...choicesOf(composition), ...others].filter((skills) => skills.join() !== composition.join());
}

/** Returns all ordered selections of the skills, including the empty one. */
function choicesOf(skills: readonly Skill[]): readonly (readonly Skill[])[] {
  return [
    [],
    ...skills.flatMap((skill, place) =>
      choicesOf(skills.toSpliced(place, 1)).map((others) => [skill, ...others]),
    ),
  ];
}

/** Returns the answer, or null if a skill does not apply to its input. */
export function applyAll(skills: readonly Skill[], given: Given): string | null {
  const [first, ...others] = skills;
  if (first === undefined) return null;
  return others.reduce<string | null>(
    (made, skill) => (made === null ? null : applySkill(skill, made)),
    applySkill(first, given),
  );
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

function drawGiven(skill: Skill, dice: Dice): Given {
  const below = (least: number, most: number): number => least + Math.floor(dice.roll() * (most - least));
  if (skill === 'add') return [below(10, 60), below(10, 60)];
  if (skill === 'max') return [below(100, 1000), below(100, 1000), below(100, 1000)];
  return Array.from({ length: below(3, 5) }, () => dice.pick(Array.from(LETTERS))).join(' ');
}

/** Holds out a quarter of all numbers and words, whatever the question asks of them. */
function splitOf(given: Given): Split {
  const codes = typeof given === 'string' ? Array.from(given, (character) => character.charCodeAt(0)) : given;
  const hash = codes.reduce((sum, code) => (sum * 31 + code) % 1009, 7);
  return hash % 4 === 0 ? 'heldOut' : 'train';
}

/** Sentences by number of clauses; some name the second task first. */
const FRAMES: readonly (readonly string[])[] = [
  ['Please {a}.', 'Your task: {a}.', 'Now {a}.', 'I want you to {a}.'],
  [
    'Please {a}, then {b}.',
    'First {a}; after that, {b}.',
    'Now {a} and then {b}.',
    'Please {a}, and {b} afterwards.',
    'I want you to {b} once you are done with this: {a}.',
    'Before you {b}, {a}.',
  ],
  ['Please {a}, then {b}, then {c}.', 'First {a}, next {b}, and last {c}.', 'Now {a}; {b}; finally {c}.'],
];

function wordQuestion(phrases: readonly Phrase[], given: Given, dice: Dice): string {
  const clauses = phrases.map(({ template }, place) =>
    template.replace('{}', place === 0 ? spell(given) : 'the result'),
  );
  const frame = dice.pick(FRAMES[phrases.length - 1] ?? []);
  return frame.replace(/\{([abc])\}/g, (_, name: string) => clauses['abc'.indexOf(name)] ?? '');
}

/** Spells the input as a question does. */
export function spell(given: Given): string {
  if (typeof given === 'string') return given;
  return given.length === 2 ? given.join(' and ') : `${given.slice(0, -1).join(', ')} and ${given.at(-1)}`;
}

/** Reads the input back from a question: its numbers, else its letters separated by spaces. */
export function readGiven(question: string): Given {
  const numbers = question.match(/\d+/g);
  if (numbers !== null) return numbers.map(Number);
  return /\b[a-z]( [a-z])+\b/.exec(question)?.[0] ?? '';
}
