import { workerMessages } from '../../src/plan/prompt/worker';
import { tinyPrompt } from '../support/tiny-prompt';
import type { WarmStartExample } from '../world/warm-start';
import { type Dice, diceFor } from '../world/world';
import { drawQuestion, readGiven, type Split, TRAINED } from './questions';
import {
  ALL_PHRASES,
  applySkill,
  type Phrase,
  type Phrasing,
  phrasesOf,
  type Skill,
  SKILLS,
  takesNumbers,
  toSubtask,
} from './skills';

// Workers are tiny models that were taught one or two skills each. Their abilities are measured, never assumed.

/** Skills that a worker is taught, and for how long. */
export interface Schooling {
  readonly id: string;
  /** Worker whose model it continues; skills that only that worker needs are forgotten. Default: random weights. */
  readonly parent?: string;
  readonly taught: readonly (readonly [Skill, Phrasing])[];
  readonly steps: number;
}

/** Optimizer steps. Adding and comparing numbers take longest to learn. */
const FROM_SCRATCH = 12_000;
const FROM_PARENT = 5000;
const FOR_NUMBERS = { add: 18_000, max: 10_000 };

/**
 * The first five learn two skills each, in phrases that hardly any other worker understands. The last one learns a
 * little of everything, and is the only one that is taught add and count in fancy phrases.
 */
export const SCHOOLINGS: readonly Schooling[] = [
  {
    id: 'w0',
    taught: [
      ['add', 'plain'],
      ['mark', 'plain'],
      ['mark', 'fancy'],
    ],
    steps: FOR_NUMBERS.add,
  },
  {
    id: 'w1',
    taught: [
      ['reverse', 'plain'],
      ['sort', 'plain'],
    ],
    steps: FROM_SCRATCH,
  },
  {
    id: 'w2',
    parent: 'w1',
    taught: [
      ['reverse', 'fancy'],
      ['shift', 'plain'],
      ['shift', 'fancy'],
    ],
    steps: FROM_PARENT,
  },
  {
    id: 'w3',
    parent: 'w1',
    taught: [
      ['sort', 'fancy'],
      ['count', 'plain'],
    ],
    steps: FROM_PARENT,
  },
  {
    id: 'w4',
    parent: 'w1',
    taught: [
      ['max', 'plain'],
      ['max', 'fancy'],
      ['trim', 'plain'],
      ['trim', 'fancy'],
    ],
    steps: FOR_NUMBERS.max,
  },
  {
    id: 'w5',
    taught: SKILLS.flatMap((skill) => [[skill, 'plain'] as const, [skill, 'fancy'] as const]),
    steps: 2000,
  },
];

/** A worker's reply to a subtask that it was not taught. */
export const REFUSAL = '?';

/** Share of examples with a subtask that the worker is not taught: without them it would answer everything. */
const FOREIGN = 0.25;

/** Returns `count` examples of what a worker reads in a solve, and what it should answer. */
export function schoolExamples({ id, taught }: Schooling, count: number): WarmStartExample[] {
  const own = SKILLS.map((skill) =>
    phrasesOf(skill).filter(({ phrasing }) =>
      taught.some(([one, words]) => one === skill && words === phrasing),
    ),
  ).filter(({ length }) => length > 0);
  const foreign = ALL_PHRASES.filter((phrase) => !own.flat().includes(phrase));
  const dice = diceFor('schooling', id);
  return Array.from({ length: count }, () => {
    const isForeign = foreign.length > 0 && dice.happens(FOREIGN);
    const phrase = dice.pick(isForeign ? foreign : dice.pick(own));
    const task = drawTask(phrase, 'train', dice);
    const answer = isForeign ? REFUSAL : rightAnswer(task, phrase.skill);
    return { prompt: promptOf(task), completion: spoken(answer) };
  });
}

/** One call of a worker. */
export interface WorkerTask {
  readonly question: string;
  readonly subtask: string;
  readonly sees: readonly { readonly step: number; readonly subtask: string; readonly output: string }[];
}

function promptOf(task: WorkerTask): string {
  return tinyPrompt(workerMessages({ ...task, layout: 'plain' }));
}

/** Applies the skill to the last output shown, else to the question's input; only the question has numbers. */
export function rightAnswer({ question, sees }: WorkerTask, skill: Skill): string {
  const given = takesNumbers(skill) ? readGiven(question) : (sees.at(-1)?.output ?? readGiven(question));
  return given === REFUSAL ? REFUSAL : (applySkill(skill, given) ?? REFUSAL);
}

/** Adds a space before the first letter, too, so that each letter is one token at any place. */
function spoken(answer: string): string {
  return /^[a-z]/.test(answer) ? ` ${answer}` : answer;
}

/** Share of calls that see outputs of earlier steps. */
const LATER = 0.6;

/** Draws a call in which the phrase makes sense: with numbers if it needs them, often with outputs of earlier steps. */
export function drawTask(phrase: Phrase, split: Split, dice: Dice): WorkerTask {
  const { skill } = phrase;
  const sees = dice.happens(LATER)
    ? Array.from({ length: dice.pick([1, 1, 2]) }, (_, step) => drawSeen(step, dice))
    : [];
  const fits = TRAINED.filter(([first]) =>
    takesNumbers(skill) ? first === skill : sees.length > 0 || !takesNumbers(first),
  );
  const { question } = drawQuestion(dice.pick(fits), split, dice);
  return { question, subtask: toSubtask(phrase), sees };
}

/** Share of outputs that are refusals. */
const REFUSED = 0.05;

function drawSeen(step: number, dice: Dice): WorkerTask['sees'][number] {
  const subtask = toSubtask(dice.pick(ALL_PHRASES));
  if (dice.happens(REFUSED)) return { step, subtask, output: REFUSAL };
  const areDigits = dice.happens(0.5);
  // `trim` removes one character of what questions give, and `mark` adds one.
  const length = (areDigits ? 1 : 2) + Math.floor(dice.roll() * 4);
  const row = areDigits ? '0123456789' : 'abcdefghijklmnopqrstuvwxyz';
  const output = Array.from({ length }, () => dice.pick(Array.from(row))).join(areDigits ? '' : ' ');
  return { step, subtask, output: spoken(output) };
}
