import { halfWidth95, halfWidthOfShare95 } from './half-width';
import { mean } from './mean';
import type { Reviewed } from './try-reviews';

/** Whether reviews mend more than chance explains, and spoil no more than the best reviewer would. */
export function holdsForRecursion(reviewed: readonly Reviewed[]): boolean {
  const { gain, gainSpread, spoiled, best, bestSpread } = figuresOf(reviewed);
  return gain > gainSpread && spoiled <= best + bestSpread;
}

/** The figures of that in one line. */
export function tellRecursion(reviewed: readonly Reviewed[]): string {
  const { gain, gainSpread, spoiled, best, bestSpread } = figuresOf(reviewed);
  return (
    `recursion: net gain ${gain.toFixed(3)} ± ${gainSpread.toFixed(3)}, right turned wrong ${percent(spoiled)} % ` +
    `(optimal reviewer ${percent(best)} % ± ${percent(bestSpread)})`
  );
}

/** How often answers were right, and what reviews did to them. */
export function tellReviews(reviewed: readonly Reviewed[]): string {
  const share = (is: (one: Reviewed) => boolean): string =>
    mean(reviewed.map((one) => (is(one) ? 1 : 0))).toFixed(3);
  return [
    `right at first ${share(({ wasRight }) => wasRight)}`,
    `after review ${share(({ isRight }) => isRight)}`,
    `mended ${share(({ wasRight, isRight }) => !wasRight && isRight)}`,
    `spoiled ${share(({ wasRight, isRight }) => wasRight && !isRight)}`,
    `accepted when sure ${acceptance(reviewed, true)}, in doubt ${acceptance(reviewed, false)}`,
  ].join('  ');
}

function acceptance(reviewed: readonly Reviewed[], isSure: boolean): string {
  const heard = reviewed.filter((one) => one.isSure === isSure);
  return mean(heard.map(({ isAccepted }) => (isAccepted ? 1 : 0))).toFixed(3);
}

/** Answers to one question are alike, so their gain counts once; what is spoiled is luck anew each time. */
function figuresOf(reviewed: readonly Reviewed[]) {
  const questions = [...new Set(reviewed.map(({ question }) => question))];
  const gains = questions.map((question) =>
    mean(
      reviewed
        .filter((one) => one.question === question)
        .map(({ wasRight, isRight }) => Number(isRight) - Number(wasRight)),
    ),
  );
  const right = reviewed.filter(({ wasRight }) => wasRight);
  const best = mean(right.map(({ bestSpoils }) => bestSpoils));
  return {
    gain: mean(gains),
    gainSpread: halfWidth95(gains),
    spoiled: mean(right.map(({ isRight }) => (isRight ? 0 : 1))),
    best,
    bestSpread: halfWidthOfShare95(best, right.length),
  };
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}
