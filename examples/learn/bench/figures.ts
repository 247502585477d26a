/** One cycle, played in whatever way. Times are wall-clock times, in milliseconds. */
export interface CycleFigures {
  readonly wallMs: number;
  /** Of it, update and publish: all the rest goes to rollouts and to what they need. */
  readonly learningMs: number;
  /** Those of groups without spread included. */
  readonly rollouts: number;
  /** null where there was nothing to learn from. */
  readonly weightsSha256: string | null;
}

/** What the counted cycles came to, and what they took of the processor, in milliseconds. */
export interface Figures {
  readonly cycles: readonly CycleFigures[];
  /** Of the process that plays them. */
  readonly ownMs: number;
  /** Of Temporal's server. */
  readonly serverMs: number;
}

export function meanWallMs({ cycles }: Figures): number {
  return sum(cycles.map(({ wallMs }) => wallMs)) / cycles.length;
}

export function rolloutsIn({ cycles }: Figures): number {
  return sum(cycles.map(({ rollouts }) => rollouts));
}

/** While nothing was updated or published: a trainer's step is the same in every loop. */
export function rolloutsPerSecond(figures: Figures): number {
  const seconds = sum(figures.cycles.map(({ wallMs, learningMs }) => wallMs - learningMs)) / 1000;
  return rolloutsIn(figures) / seconds;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
