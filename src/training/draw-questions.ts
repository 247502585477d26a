import { randomFrom, shuffled } from './seeds';

/** Where draws come from, and of which cycle they are. */
export interface QuestionSource {
  readonly seed: number;
  /** Questions in the set, at least 1. */
  readonly count: number;
  /** Questions of a cycle, as configured. */
  readonly questions: number;
  /** From 1. */
  readonly cycle: number;
}

/**
 * The first `draws` draws of a cycle, as indices into the set. More draws of the same cycle only add to them.
 *
 * The first `questions` of them go through the set epoch by epoch, each epoch in an order of its own: after n cycles
 * every question was drawn as often as any other, give or take one. Further draws, in place of groups without spread,
 * are other questions in an order of the cycle's own; only when all have had their turn do they begin again. So they
 * depend on the seed and their number alone, and not on what other cycles had to top up.
 */
export function drawQuestions(source: QuestionSource, draws: number): number[] {
  const regular = regularDraws(source);
  if (draws <= regular.length) return regular.slice(0, draws);
  const others = topUps(source, new Set(regular));
  const drawn = [...regular];
  while (drawn.length < draws) drawn.push(...others.slice(0, draws - drawn.length));
  return drawn;
}

function regularDraws({ seed, count, questions, cycle }: QuestionSource): number[] {
  const drawn: number[] = [];
  let place = (cycle - 1) * questions;
  while (drawn.length < questions) {
    const order = orderOf(count, seed, 'epoch', Math.floor(place / count));
    const part = order.slice(place % count, (place % count) + questions - drawn.length);
    drawn.push(...part);
    place += part.length;
  }
  return drawn;
}

function topUps({ seed, count, cycle }: QuestionSource, regular: ReadonlySet<number>): number[] {
  const order = orderOf(count, seed, 'top-up', cycle);
  return [...order.filter((index) => !regular.has(index)), ...order.filter((index) => regular.has(index))];
}

function orderOf(count: number, ...key: readonly (string | number)[]): number[] {
  return shuffled(
    Array.from({ length: count }, (_, index) => index),
    randomFrom(...key),
  );
}
