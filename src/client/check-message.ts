import { MAX_HINT_CHARACTERS } from '../protocol/bounds';
import { isDepth, isHint } from '../protocol/control-input';
import { RefusedError } from './refused-error';

// Nobody answers a signal: what a run would pass over without a word is refused before it is sent.

/** @throws RefusedError unless it is a whole number from 0, or null for no limit */
export function checkDepth(depth: number | null): void {
  if (isDepth(depth)) return;
  throw new RefusedError(
    `the depth is ${String(depth)}: it must be a whole number from 0, or null for no limit`,
  );
}

/** @throws RefusedError for a hint without a word, or longer than a page */
export function checkHint(hint: string): void {
  const { length } = hint;
  if (isHint(hint)) return;
  throw new RefusedError(
    `the hint has ${length} characters: it must be a text of 1 to ${MAX_HINT_CHARACTERS} characters`,
  );
}
