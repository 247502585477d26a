import { RefusedError } from './refused-error';

// Nobody answers a signal, so what a run would pass over is refused here.

/** @throws RefusedError unless it is a whole number from 0, or null for no limit */
export function checkDepth(depth: number | null): void {
  if (depth === null || (Number.isSafeInteger(depth) && depth >= 0)) return;
  throw new RefusedError(`the depth is ${depth}: it must be a whole number from 0, or null for no limit`);
}

/** @throws RefusedError for a hint without a word in it */
export function checkHint(hint: string): void {
  if (hint.trim() === '') throw new RefusedError('the hint is empty: say what the Conductor shall mind');
}
