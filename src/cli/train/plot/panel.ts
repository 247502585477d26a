/** A quantity over the cycles, in their order; null: there was none. */
export interface Curve {
  readonly name: string;
  readonly colour: string;
  readonly values: readonly (number | null)[];
}

/** One of the small pictures that a picture is made of. */
export interface Panel {
  readonly title: string;
  /** Says what is counted, and in which unit. */
  readonly note: string;
  /** `lines`: each by itself; `shares`: areas on top of each other that fill the panel. */
  readonly form: 'lines' | 'shares';
  readonly curves: readonly Curve[];
  /** Around the first curve: how far it spreads to either side. */
  readonly spread?: readonly number[];
  /** Measured now and then: points, drawn over the curves. */
  readonly points?: Curve;
  /** The largest value the axis shows; default: as the values want it. */
  readonly top?: number;
  /** A value for people, unit included. */
  readonly format: (value: number) => string;
}

/** A picture: what it shows of a training run. */
export interface Picture {
  /** Name of its files, without an ending. */
  readonly file: string;
  readonly title: string;
  readonly subtitle: string;
  /** The number of each cycle shown, ascending. */
  readonly cycles: readonly number[];
  /** Cycles that a night began with, the first one's left out. */
  readonly nightStarts: readonly number[];
  readonly panels: readonly Panel[];
}

/** The last value there is; null where there is none. */
export function lastOf({ values }: Pick<Curve, 'values'>): number | null {
  return values.findLast((value) => value !== null) ?? null;
}
