/** Set by jest's project `thorough`, which runs the tests of random inputs once more, with more and longer ones. */
declare global {
  var isThorough: boolean | undefined;
}

const isThorough = globalThis.isThorough === true;

export const MEGABYTE = 1024 * 1024;

/** Length of the longest random texts. What takes more than linear time would take minutes with these, too. */
export const LONGEST_TEXT = isThorough ? MEGABYTE : MEGABYTE / 16;

/** Returns how many random inputs to try, of those that the project `thorough` tries. */
export function tries(all: number): number {
  return isThorough ? all : Math.ceil(all / 4);
}
