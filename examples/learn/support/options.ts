// Options of commands, which come as text.

/** Reads a count or a seed. @throws Error for anything but a whole number from 0 */
export function readWhole(option: string, text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`${option} takes a whole number from 0, not "${text}".`);
}

/** Reads one of a few words. @throws Error for any other */
export function readWord<Word extends string>(option: string, text: string, words: readonly Word[]): Word {
  const word = words.find((each) => each === text);
  if (word !== undefined) return word;
  throw new Error(`${option} takes ${words.join(' or ')}, not "${text}".`);
}

/** As many seeds as `--seeds` says, from `--first` on. */
export function seedsFrom({ seeds, first }: { readonly seeds: string; readonly first: string }): number[] {
  const from = readWhole('--first', first);
  return Array.from({ length: readWhole('--seeds', seeds) }, (_, index) => from + index);
}
