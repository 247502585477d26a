// Parsers of command options, which are text.

/** Reads a count or a seed. @throws Error for anything but a whole number from 0 */
export function readWhole(option: string, text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`${option} takes a whole number from 0, not "${text}".`);
}

/** Reads an option that has a fixed set of values. @throws Error for any other value */
export function readWord<Word extends string>(option: string, text: string, words: readonly Word[]): Word {
  const word = words.find((each) => each === text);
  if (word !== undefined) return word;
  throw new Error(`${option} takes ${words.join(' or ')}, not "${text}".`);
}

/** Returns as many seeds as `--seeds` says, starting at `--first`. */
export function seedsFrom({ seeds, first }: { readonly seeds: string; readonly first: string }): number[] {
  const from = readWhole('--first', first);
  return Array.from({ length: readWhole('--seeds', seeds) }, (_, index) => from + index);
}
