/** Set by jest's project `thorough`, which runs some tests once more, with more and longer random inputs. */
declare global {
  var isThorough: boolean | undefined;
}

const isThorough = globalThis.isThorough === true;

/** Share of the inputs to try: one in this many. */
const STRIDE = isThorough ? 1 : 4;

export const MEGABYTE = 1024 * 1024;

/** Length of the longest random texts. What takes more than linear time would take minutes with these, too. */
export const LONGEST_TEXT = isThorough ? MEGABYTE : MEGABYTE / 16;

/** Returns how many random inputs to try, of those that the project `thorough` tries. */
export function tries(all: number): number {
  return Math.ceil(all / STRIDE);
}

/** Returns the stride through a list, of which the project `thorough` takes every `each`-th. */
export function strideOf(each: number): number {
  return each * STRIDE;
}
