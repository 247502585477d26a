// Skills that a worker of this world may have: small operations on numbers, words and digits, each in ten phrasings.

export const SKILLS = ['add', 'max', 'reverse', 'sort', 'shift', 'trim', 'mark', 'count'] as const;
export type Skill = (typeof SKILLS)[number];

/** Input of a skill: two numbers to add, three to find the largest of; or letters of a word, or digits of a result. */
export type Given = readonly number[] | string;

/**
 * A group of five phrasings of a skill. A worker understands only the groups that it was taught, so a Conductor must
 * also learn in which words to ask.
 */
export type Phrasing = 'plain' | 'fancy';

/** Templates; `{}` stands for the skill's input. The first word of each is unique. */
const PHRASES: Readonly<Record<Skill, Readonly<Record<Phrasing, readonly string[]>>>> = {
  add: {
    plain: ['add {}', 'sum {}', 'total {}', 'combine {}', 'join {}'],
    fancy: ['merge {}', 'pool {}', 'unite {}', 'fuse {}', 'blend {}'],
  },
  max: {
    plain: [
      'find the largest of {}',
      'pick the largest of {}',
      'choose the largest of {}',
      'select the largest of {}',
      'take the largest of {}',
    ],
    fancy: [
      'name the highest of {}',
      'say the highest of {}',
      'keep the highest of {}',
      'show the highest of {}',
      'tell the highest of {}',
    ],
  },
  reverse: {
    plain: ['reverse {}', 'mirror {}', 'flip {}', 'invert {}', 'swap {}'],
    fancy: ['spin {}', 'unwind {}', 'rewind {}', 'retrace {}', 'upend {}'],
  },
  sort: {
    plain: ['sort {}', 'order {}', 'arrange {}', 'rank {}', 'align {}'],
    fancy: ['tidy {}', 'grade {}', 'file {}', 'range {}', 'queue {}'],
  },
  shift: {
    plain: ['shift {}', 'advance {}', 'move {}', 'push {}', 'step {}'],
    fancy: ['bump {}', 'raise {}', 'nudge {}', 'lift {}', 'promote {}'],
  },
  trim: {
    plain: ['trim {}', 'cut {}', 'crop {}', 'clip {}', 'shorten {}'],
    fancy: ['prune {}', 'shear {}', 'dock {}', 'pare {}', 'lop {}'],
  },
  mark: {
    plain: ['mark {}', 'stamp {}', 'seal {}', 'sign {}', 'tag {}'],
    fancy: ['label {}', 'brand {}', 'badge {}', 'crown {}', 'ticket {}'],
  },
  count: {
    plain: [
      'count the low ones of {}',
      'number the low ones of {}',
      'poll the low ones of {}',
      'score the low ones of {}',
      'reckon the low ones of {}',
    ],
    fancy: [
      'tally the low ones of {}',
      'weigh the low ones of {}',
      'gauge the low ones of {}',
      'measure the low ones of {}',
      'check the low ones of {}',
    ],
  },
};

/** A phrase of a skill, as a template. */
export interface Phrase {
  readonly skill: Skill;
  readonly phrasing: Phrasing;
  readonly template: string;
}

/** All 80 phrases. */
export const ALL_PHRASES: readonly Phrase[] = SKILLS.flatMap((skill) =>
  (['plain', 'fancy'] as const).flatMap((phrasing) =>
    PHRASES[skill][phrasing].map((template) => ({ skill, phrasing, template })),
  ),
);

export function phrasesOf(skill: Skill): readonly Phrase[] {
  return ALL_PHRASES.filter((phrase) => phrase.skill === skill);
}

/**
 * Makes a phrase a subtask of its own: "Now mirror it." Its words are the same tokens as in a question, which never
 * begins with a phrase either.
 */
export function toSubtask({ skill, template }: Phrase): string {
  return `Now ${template.replace('{}', takesNumbers(skill) ? 'them' : 'it')}.`;
}

type NumberSkill = keyof typeof OF_NUMBERS;

/** Returns whether a skill takes the numbers of a question, and so can only come first. */
export function takesNumbers(skill: Skill): skill is NumberSkill {
  return skill in OF_NUMBERS;
}

/** Applies a skill to its input; returns null if it does not apply, or nothing is left. */
export function applySkill(skill: Skill, given: Given): string | null {
  if (typeof given !== 'string') return takesNumbers(skill) ? String(OF_NUMBERS[skill](given)) : null;
  if (takesNumbers(skill)) return null;
  const characters = Array.from(given.replaceAll(' ', ''));
  const areDigits = characters.every((character) => /\d/.test(character));
  const made = OF_CHARACTERS[skill](characters, areDigits);
  // Letters are separated by spaces, so that a tiny model reads one token for each.
  return made.length === 0 ? null : made.join(areDigits ? '' : ' ');
}

const OF_NUMBERS = {
  add: (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0),
  max: (numbers: readonly number[]): number => Math.max(...numbers),
};

type Characters = readonly string[];

const OF_CHARACTERS: Readonly<
  Record<Exclude<Skill, NumberSkill>, (characters: Characters, areDigits: boolean) => Characters>
> = {
  reverse: (characters) => characters.toReversed(),
  sort: (characters) => characters.toSorted(),
  shift: (characters) => characters.map(successorOf),
  trim: (characters) => characters.slice(0, -1),
  mark: (characters, areDigits) => [...characters, areDigits ? '0' : 'a'],
  count: (characters) => [String(characters.filter((character) => LOW.includes(character)).length)],
};

/** The first half of the letters and of the digits. */
const LOW = 'abcdefghijklm01234';
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Returns the next character; a follows z, and 0 follows 9. */
function successorOf(character: string): string {
  const row = /\d/.test(character) ? '0123456789' : LETTERS;
  return row.charAt((row.indexOf(character) + 1) % row.length);
}
