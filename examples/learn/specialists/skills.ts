// What a worker of this world may know: small operations on numbers, words and digits, each in ten phrasings.

export const SKILLS = ['add', 'max', 'reverse', 'sort', 'shift', 'count'] as const;
export type Skill = (typeof SKILLS)[number];

/** Two numbers to add, three to find the largest of; or characters: the letters of a word, or the digits of a result. */
export type Given = readonly number[] | string;

/**
 * The five phrasings of a skill that belong together. A worker understands those of the group it was taught, so that a
 * Conductor must also find out in which words to ask.
 */
export type Phrasing = 'plain' | 'fancy';

/** Templates; `{}` stands for what the skill is applied to. */
const PHRASES: Readonly<Record<Skill, Readonly<Record<Phrasing, readonly string[]>>>> = {
  add: {
    plain: ['add {}', 'sum {} up', 'add {} together', 'find the sum of {}', 'take the sum of {}'],
    fancy: [
      'work out the total of {}',
      'put {} together',
      'give the total of {}',
      'name the total for {}',
      'combine {} into one number',
    ],
  },
  max: {
    plain: [
      'find the largest of {}',
      'take the largest of {}',
      'pick the biggest of {}',
      'give the maximum of {}',
      'choose the greatest of {}',
    ],
    fancy: [
      'name the highest of {}',
      'say which of {} is the most',
      'keep only the top one of {}',
      'see which of {} wins',
      'tell which of {} leads',
    ],
  },
  reverse: {
    plain: [
      'write {} backwards',
      'turn {} around',
      'read {} from the end',
      'give {} from last to first',
      'spell {} from right to left',
    ],
    fancy: ['reverse {}', 'mirror {}', 'flip {} over', 'invert the order of {}', 'put {} in reverse'],
  },
  sort: {
    plain: [
      'sort {}',
      'put {} in order',
      'arrange {} from low to high',
      'order {} upwards',
      'bring {} into order',
    ],
    fancy: [
      'line {} up by rank',
      'rank {} from the smallest on',
      'set {} in ascending sequence',
      'tidy {} from small to large',
      'range {} by size',
    ],
  },
  shift: {
    plain: [
      'move {} on by one',
      'shift {} by one',
      'advance {} by one place',
      'step {} forward once',
      'push {} one further',
    ],
    fancy: [
      'replace {} by what follows',
      'take the next of each part of {}',
      'raise each part of {} by one',
      'turn each part of {} into its successor',
      'bump all of {} up',
    ],
  },
  count: {
    plain: [
      'count the low ones in {}',
      'tell how many low ones {} has',
      'number the low ones of {}',
      'find the count of low ones in {}',
      'say how many of {} are low',
    ],
    fancy: [
      'total the low ones of {}',
      'tally the low ones in {}',
      'give the low score of {}',
      'measure how low {} is',
      'check {} for its low ones',
    ],
  },
};

/** A phrase of a skill, as a template. */
export interface Phrase {
  readonly skill: Skill;
  readonly phrasing: Phrasing;
  readonly template: string;
}

/** All sixty. */
export const ALL_PHRASES: readonly Phrase[] = SKILLS.flatMap((skill) =>
  (['plain', 'fancy'] as const).flatMap((phrasing) =>
    PHRASES[skill][phrasing].map((template) => ({ skill, phrasing, template })),
  ),
);

export function phrasesOf(skill: Skill): readonly Phrase[] {
  return ALL_PHRASES.filter((phrase) => phrase.skill === skill);
}

/** A phrase as an instruction of its own, which a plan gives a worker: "Write it backwards." */
export function toSubtask({ skill, template }: Phrase): string {
  return toSentence(template.replace('{}', takesNumbers(skill) ? 'them' : 'it'));
}

export function toSentence(clause: string): string {
  return `${clause.slice(0, 1).toUpperCase()}${clause.slice(1)}.`;
}

/** Whether a skill begins with the numbers of a question, and so can only come first. */
export function takesNumbers(skill: Skill): boolean {
  return skill === 'add' || skill === 'max';
}

/** What a skill makes of what it is given; null where it is not made for that. */
export function applySkill(skill: Skill, given: Given): string | null {
  if (typeof given !== 'string')
    return takesNumbers(skill) ? String(OF_NUMBERS[skill === 'add' ? 'add' : 'max'](given)) : null;
  const characters = Array.from(given.replaceAll(' ', ''));
  const areDigits = characters.every((character) => /\d/.test(character));
  switch (skill) {
    case 'reverse':
      return join(characters.toReversed(), areDigits);
    case 'sort':
      return join(characters.toSorted(), areDigits);
    case 'shift':
      return join(characters.map(successorOf), areDigits);
    case 'count':
      return String(characters.filter((character) => LOW.includes(character)).length);
    default:
      return null;
  }
}

const OF_NUMBERS = {
  add: (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0),
  max: (numbers: readonly number[]): number => Math.max(...numbers),
};

/** The first half of the letters, and of the digits. */
const LOW = 'abcdefghijklm01234';
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** z is followed by a, and 9 by 0. */
function successorOf(character: string): string {
  const row = /\d/.test(character) ? '0123456789' : LETTERS;
  return row.charAt((row.indexOf(character) + 1) % row.length);
}

/** Letters stand apart, so that a tiny model reads one token for each. */
function join(characters: readonly string[], areDigits: boolean): string {
  return characters.join(areDigits ? '' : ' ');
}
